/**
 * Tables in the room there is: columns as wide as their cells, the widest made narrower until all fit, and where not even
 * that helps, one line for each cell with the name of its column.
 */
import type {Pen} from './pen.ts';
import {type Span, type Style, span, textWidth, wrapSpans} from './spans.ts';

export type Alignment = 'left' | 'center' | 'right' | null;
type Row = readonly (readonly Span[])[];

const border = ' │ ';
/** Narrower columns are no help to a reader. */
const leastColumn = 6;

/** @param cells the first row is the head */
export function drawCells(cells: readonly Row[], align: readonly Alignment[], pen: Pen): string[] {
  const natural = align.map((_, column) => Math.max(1, ...cells.map((row) => spansWidth(row[column] ?? []))));
  const widths = fitted(natural, pen.width - border.length * (natural.length - 1));
  return widths === null ? drawRecords(cells, pen) : drawGrid(cells, {widths, align}, pen);
}

function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((sum, {text}) => sum + textWidth(text), 0);
}

/** All columns get what they want up to the largest cap that fits. Null when some would become too narrow. */
function fitted(natural: readonly number[], room: number): number[] | null {
  const capped = (cap: number) => natural.map((each) => Math.min(each, cap));
  for (let cap = Math.max(...natural); cap >= leastColumn; cap--) {
    const widths = capped(cap);
    if (widths.reduce((sum, each) => sum + each, 0) <= room) return widths;
  }
  return null;
}

interface Grid {
  widths: readonly number[];
  align: readonly Alignment[];
}

function drawGrid(cells: readonly Row[], grid: Grid, pen: Pen): string[] {
  const [head = [], ...body] = cells.map((row, index) => drawRow(row, grid, index === 0 ? ['bold'] : [], pen));
  const rule = pen.paint(grid.widths.map((each) => '─'.repeat(each)).join('─┼─'), ['dim']);
  // Rows of several lines would run into each other.
  const isTall = body.some((lines) => lines.length > 1);
  return [...head, rule, ...body.flatMap((lines, index) => (isTall && index > 0 ? [rule, ...lines] : lines))];
}

function drawRow(row: Row, {widths, align}: Grid, styles: readonly Style[], {paint}: Pen): string[] {
  const columns = widths.map((width, column) => {
    const spans = (row[column] ?? []).map(({text, styles: own}) => ({text, styles: [...own, ...styles]}));
    return wrapSpans(spans, paint, {width});
  });
  const height = Math.max(...columns.map((lines) => lines.length));
  const cell = (column: number, line: number) =>
    padded(columns[column]![line] ?? '', widths[column]!, align[column] ?? null);
  return Array.from({length: height}, (_, line) =>
    widths
      .map((_width, column) => cell(column, line))
      .join(paint(border, ['dim']))
      .trimEnd(),
  );
}

function padded(text: string, width: number, align: Alignment): string {
  const free = Math.max(0, width - textWidth(text));
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(free - before);
}

function drawRecords([head = [], ...body]: readonly Row[], pen: Pen): string[] {
  return body.flatMap((row, index) => [
    ...(index > 0 ? [pen.paint('─'.repeat(Math.min(pen.width, 40)), ['dim'])] : []),
    ...row.flatMap((cell, column) => {
      const name = (head[column] ?? []).map(({text}) => span(text, 'bold'));
      return wrapSpans([...name, span(': '), ...cell], pen.paint, {width: pen.width, first: '', rest: '  '});
    }),
  ]);
}
