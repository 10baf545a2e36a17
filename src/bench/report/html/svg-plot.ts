/** Small plots as inline SVG: axes with round numbers, lines, dots, bars of time. Pure functions, no script, no network. */

export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
}

export interface PlotOptions {
  xLabel: string;
  yLabel: string;
  series: readonly Series[];
  /** A line, a line with dots at its points, or dots only. */
  marks?: 'line' | 'line-and-dots' | 'dots';
}

const size = {width: 640, height: 280};
const margin = {left: 64, right: 16, top: 14, bottom: 44};
export const colours = ['#2563eb', '#ea580c', '#16a34a', '#9333ea', '#dc2626', '#0891b2'];

export function linePlot({xLabel, yLabel, series, marks = 'line'}: PlotOptions): string {
  const points = series.flatMap((one) => one.points);
  const x = scale(
    points.map(([value]) => value),
    margin.left,
    size.width - margin.right,
  );
  const y = scale([0, ...points.map(([, value]) => value)], size.height - margin.bottom, margin.top);
  const drawn = series.map(({points: own}, index) => {
    const places = own.map(([a, b]) => [x.at(a).toFixed(1), y.at(b).toFixed(1)]);
    const line = `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke-width="1.5"/>`;
    const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.5" stroke="none"/>`).join('');
    const colour = colours[index % colours.length];
    const content = (marks === 'dots' ? '' : line) + (marks === 'line' ? '' : dots);
    return `<g fill="${colour}" stroke="${colour}">${content}</g>`;
  });
  return svg(size.height, [axes(x, y, xLabel, yLabel), ...drawn, legend(series)].join(''), `${yLabel} over ${xLabel}`);
}

export interface Bar {
  row: number;
  from: number;
  to: number;
  colour: string;
  title: string;
}

const rowHeight = 4;

/** Bars along a common axis of time, one row each. */
export function timeline(bars: readonly Bar[], numRows: number, xLabel: string): string {
  const height = margin.top + numRows * rowHeight + margin.bottom;
  const x = scale([0, ...bars.map(({to}) => to)], margin.left, size.width - margin.right);
  const drawn = bars.map(({row, from, to, colour, title}) => {
    const width = Math.max(0.5, x.at(to) - x.at(from));
    const place = `x="${x.at(from).toFixed(1)}" y="${margin.top + row * rowHeight}" width="${width.toFixed(1)}"`;
    return `<rect ${place} height="${rowHeight - 1}" fill="${colour}"><title>${escapeText(title)}</title></rect>`;
  });
  const axis = x.ticks.map((tick) => tickMark(x.at(tick), height - margin.bottom, tick)).join('');
  const label = `<text x="${size.width / 2}" y="${height - 8}" text-anchor="middle">${escapeText(xLabel)}</text>`;
  return svg(height, drawn.join('') + axis + label, 'Timeline of the requests');
}

interface Scale {
  at(value: number): number;
  ticks: number[];
}

const wantedTicks = 6;

function scale(values: readonly number[], from: number, to: number): Scale {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [low, high] = least < most ? [least, most] : [Math.min(least, 0) || 0, (Number.isFinite(most) && most) || 1];
  const step = roundStep((high - low) / wantedTicks);
  const first = Math.ceil(low / step);
  const ticks = Array.from({length: Math.floor(high / step) - first + 1}, (_, index) => (first + index) * step);
  return {ticks, at: (value) => from + ((value - low) / (high - low)) * (to - from)};
}

/** 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

function axes(x: Scale, y: Scale, xLabel: string, yLabel: string): string {
  const bottom = size.height - margin.bottom;
  const grid = y.ticks.map((tick) => {
    const place = y.at(tick).toFixed(1);
    return `<line x1="${margin.left}" x2="${size.width - margin.right}" y1="${place}" y2="${place}" class="grid"/><text x="${margin.left - 6}" y="${place}" dy="4" text-anchor="end">${number(tick)}</text>`;
  });
  const marks = x.ticks.map((tick) => tickMark(x.at(tick), bottom, tick));
  const names = `<text x="${size.width / 2}" y="${size.height - 8}" text-anchor="middle">${escapeText(xLabel)}</text><text transform="translate(14 ${size.height / 2}) rotate(-90)" text-anchor="middle">${escapeText(yLabel)}</text>`;
  return [...grid, ...marks, names].join('');
}

function tickMark(x: number, y: number, value: number): string {
  return `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${y}" y2="${y + 4}" stroke="currentColor"/><text x="${x.toFixed(1)}" y="${y + 17}" text-anchor="middle">${number(value)}</text>`;
}

function legend(series: readonly Series[]): string {
  if (series.length < 2) return '';
  return series
    .map(
      ({name}, index) =>
        `<text x="${margin.left + 10}" y="${margin.top + 14 + index * 15}" fill="${colours[index % colours.length]}">${escapeText(name)}</text>`,
    )
    .join('');
}

function number(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function svg(height: number, content: string, label: string): string {
  return `<svg viewBox="0 0 ${size.width} ${height}" role="img" aria-label="${escapeText(label)}">${content}</svg>`;
}

export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
