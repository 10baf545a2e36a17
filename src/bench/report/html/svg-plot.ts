/** Small plots as inline SVG: axes with round numbers, lines, dots, bars of time. Pure functions, no script, no network. */

export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
  /** Texts beside the points. */
  labels?: readonly string[];
}

export interface PlotOptions {
  xLabel: string;
  yLabel: string;
  series: readonly Series[];
  /** A line, a line with dots at its points, or dots only. */
  marks?: 'line' | 'line-and-dots' | 'dots';
}

const size = {width: 640, height: 280};
const margin = {left: 64, right: 24, top: 30, bottom: 44};

/** Colours of series and bars as classes, so that each scheme has its own; for the style of the page. */
export const plotStyle = `
.s0{fill:#2563eb;stroke:#2563eb}.s1{fill:#c2410c;stroke:#c2410c}
.wait{fill:#9ca3af}.gap0{fill:#16a34a}.gap1{fill:#eab308}.gap2{fill:#ea580c}.gap3{fill:#b91c1c}.failed{fill:#dc2626}
.grid{stroke:currentColor;opacity:.15}
@media(prefers-color-scheme:dark){.s0{fill:#7aa7ff;stroke:#7aa7ff}.s1{fill:#ff9d5c;stroke:#ff9d5c}.wait{fill:#6b7280}.gap3{fill:#ef4444}}
`;
const numColours = 2;

export function linePlot({xLabel, yLabel, series, marks = 'line'}: PlotOptions): string {
  const points = series.flatMap((one) => one.points);
  const x = scale(
    points.map(([value]) => value),
    margin.left,
    size.width - margin.right,
  );
  const y = scale(withRoundTop(points.map(([, value]) => value)), size.height - margin.bottom, margin.top);
  const drawn = series.map(({points: own, labels = []}, index) => {
    const places = own.map(([a, b]) => [x.at(a).toFixed(1), y.at(b).toFixed(1)]);
    const line = `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke-width="1.5"/>`;
    const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.5" stroke="none"/>`).join('');
    const texts = labels.map((label, place) => pointLabel(label, own[place], x, y)).join('');
    const content = (marks === 'dots' ? '' : line) + (marks === 'line' ? '' : dots);
    return `<g class="s${index % numColours}">${content}</g>${texts}`;
  });
  return svg(size.height, [axes(x, y, xLabel, yLabel), ...drawn, legend(series)].join(''), `${yLabel} over ${xLabel}`);
}

function pointLabel(label: string, [a, b]: readonly [number, number], x: Scale, y: Scale): string {
  return `<text x="${x.at(a).toFixed(1)}" y="${(y.at(b) - 7).toFixed(1)}" text-anchor="middle">${escapeText(label)}</text>`;
}

export interface Bar {
  row: number;
  from: number;
  to: number;
  /** One of the classes of `plotStyle`. */
  kind: string;
  title: string;
}

const rowHeight = 4;

/** Bars along a common axis of time, one row each. */
export function timeline(bars: readonly Bar[], numRows: number, xLabel: string): string {
  const height = margin.top + numRows * rowHeight + margin.bottom;
  const x = scale([0, ...bars.map(({to}) => to)], margin.left, size.width - margin.right);
  const drawn = bars.map(({row, from, to, kind, title}) => {
    const width = Math.max(0.5, x.at(to) - x.at(from));
    const place = `x="${x.at(from).toFixed(1)}" y="${margin.top + row * rowHeight}" width="${width.toFixed(1)}"`;
    return `<rect ${place} height="${rowHeight - 1}" class="${kind}"><title>${escapeText(title)}</title></rect>`;
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

/** From 0 to a tick above the highest value, so that no line runs along the edge. */
function withRoundTop(values: readonly number[]): number[] {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return [0];
  const step = roundStep(most / wantedTicks);
  return [0, (Math.floor(most / step) + 1) * step];
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

const legendWidth = 90;

/** Above the plot, where no line is. */
function legend(series: readonly Series[]): string {
  if (series.length < 2) return '';
  const entries = series.map(({name}, index) => {
    const x = margin.left + index * legendWidth;
    return `<rect x="${x}" y="8" width="10" height="10" class="s${index % numColours}"/><text x="${x + 15}" y="17">${escapeText(name)}</text>`;
  });
  return entries.join('');
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
