/** The input in lines, with the place of its cursor. Rows break at line feeds and where the room ends. */
import type {TypedInput} from '../input/input-model.ts';
import {cutToWidth, graphemes, type Paint, span, textWidth} from './spans.ts';

export interface DrawnInput {
  lines: string[];
  /** Where the cursor stands in these lines. */
  cursor: {x: number; y: number};
}

export interface InputRoom {
  width: number;
  maxLines: number;
  paint: Paint;
  /** Where the cursor of the terminal stands elsewhere. */
  showsCursor: boolean;
}

const maxInputLines = 8;
const labelColumns = 2;

/** The text of the input in lines; more than eight scroll inside. */
export function drawInput({editor: {text, cursor}, label, hint}: TypedInput, room: InputRoom): DrawnInput {
  const {width, maxLines, paint, showsCursor} = room;
  const shownLabel = cutToWidth(span(label).text, Math.max(labelColumns, width - 10));
  const indent = textWidth(shownLabel);
  const {rows, place} = layOut(text, cursor, Math.max(4, width - indent - 1));
  const height = Math.max(1, Math.min(maxInputLines, maxLines));
  const first = Math.max(0, Math.min(place.y - height + 1, rows.length - height));
  const visible = rows.slice(first, first + height);
  const y = place.y - first;
  if (text === '') visible[0] = cutToWidth(hint, width - indent - 1);
  if (showsCursor) visible[y] = withCursor(visible[y]!, place.x);
  if (text === '') visible[0] = paint(visible[0]!, ['dim']);
  const lines = visible.map((row, at) => (first + at === 0 ? paint(shownLabel, ['accent']) : ' '.repeat(indent)) + row);
  return {lines, cursor: {x: indent + place.x, y}};
}

interface Layout {
  rows: string[];
  /** Of the cursor. */
  place: {x: number; y: number};
}

/** Rows break at line feeds and where the room ends. */
function layOut(text: string, cursor: number, room: number): Layout {
  const rows: string[] = [''];
  let place = {x: 0, y: 0};
  let used = 0;
  let index = 0;
  for (const grapheme of graphemes(text)) {
    const isHere = index === cursor;
    const shown = grapheme === '\n' ? '' : span(grapheme).text;
    if (isHere && grapheme === '\n') place = {x: used, y: rows.length - 1};
    if (grapheme === '\n' || used + textWidth(shown) > room) {
      rows.push('');
      used = 0;
    }
    if (isHere && grapheme !== '\n') place = {x: used, y: rows.length - 1};
    rows[rows.length - 1] += shown;
    used += textWidth(shown);
    index += grapheme.length;
  }
  return index === cursor ? {rows, place: {x: used, y: rows.length - 1}} : {rows, place};
}

/** The sign at this column stands out as a cursor does. */
function withCursor(row: string, column: number): string {
  let used = 0;
  const signs = graphemes(row);
  const at = signs.findIndex((sign) => (used += textWidth(sign)) > column);
  if (at === -1) return `${row}${inverse(' ')}`;
  return signs.slice(0, at).join('') + inverse(signs[at]!) + signs.slice(at + 1).join('');
}

function inverse(text: string): string {
  return `\u001b[7m${text}\u001b[27m`;
}
