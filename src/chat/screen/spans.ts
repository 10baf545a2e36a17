/**
 * Styled text in lines of a width: spans in, one string with escapes for each line out. Widths are those of terminals;
 * a grapheme is never cut. Everything that is drawn goes through here, so that the height of a part is known before.
 */
import stringWidth from 'string-width';
import {safeText} from '../safe-text.ts';

export type Style =
  | 'bold'
  | 'italic'
  | 'dim'
  | 'code'
  | 'heading'
  | 'link'
  | 'accent'
  | 'good'
  | 'bad'
  | 'warn'
  | 'strike'
  | 'keyword'
  | 'string'
  | 'number'
  | 'name'
  | 'type';

export interface Span {
  text: string;
  styles: readonly Style[];
}

/** Puts escapes around a text; one that puts none is for terminals without colours. */
export type Paint = (text: string, styles: readonly Style[]) => string;

const codes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  italic: [3, 23],
  dim: [2, 22],
  code: [33, 39],
  heading: [36, 39],
  link: [34, 39],
  accent: [36, 39],
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  strike: [9, 29],
  keyword: [35, 39],
  string: [32, 39],
  number: [33, 39],
  name: [34, 39],
  type: [36, 39],
};

/** Colours that are hard to read on white have others there. */
const lightCodes: Partial<Record<Style, readonly [number, number]>> = {
  code: [35, 39],
  warn: [35, 39],
  number: [31, 39],
};

export const paintNone: Paint = (text) => text;

export function createPaint(theme: 'dark' | 'light'): Paint {
  const table = theme === 'light' ? {...codes, ...lightCodes} : codes;
  return (text, styles) =>
    styles.reduce((painted, style) => `\u001b[${table[style][0]}m${painted}\u001b[${table[style][1]}m`, text);
}

export const span = (text: string, ...styles: Style[]): Span => ({text: safeText(text), styles});

const segmenter = new Intl.Segmenter(undefined, {granularity: 'grapheme'});

/** Most text is this, Latin, Greek and Cyrillic, and needs no tables of Unicode: one sign, one column. */
const narrowSigns =
  '\\u0020-\\u007e\\u00a1-\\u00ac\\u00ae-\\u02ff\\u0391-\\u03a1\\u03a3-\\u03ff\\u0400-\\u0482\\u048a-\\u052f' +
  '\\u2010-\\u2015\\u2018-\\u201e\\u2022\\u2026\\u2500-\\u259f\\u2800-\\u28ff';
/** Kana, Chinese signs, Hangul and full-width forms: one sign, two columns, and none joins another. */
const wideSigns = '\\u3041-\\u3096\\u309b-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60';
const onlyNarrow = new RegExp(`^[${narrowSigns}]*$`);
const onlyWide = new RegExp(`^[${wideSigns}]*$`);
const onlySingle = new RegExp(`^[\\n${narrowSigns}${wideSigns}]*$`);

/** Before a simple sign behind a blank nothing is ever torn apart. */
const wordStart = new RegExp(`(?<=[ \\n])(?=[${narrowSigns}${wideSigns}])`);
/** The time for a text grows with the square of its length; longer ones are taken in parts, whatever that tears apart. */
const partsOfWord = /[\s\S]{1,1000}(?![\udc00-\udfff])/g;

export function graphemes(text: string): string[] {
  return onlySingle.test(text) ? text.split('') : text.split(wordStart).flatMap(graphemesOfWord);
}

function graphemesOfWord(word: string): string[] {
  if (onlySingle.test(word)) return word.split('');
  const parts = word.match(partsOfWord) ?? [];
  return parts.flatMap((part) => Array.from(segmenter.segment(part), ({segment}) => segment));
}

export function textWidth(text: string): number {
  if (onlyNarrow.test(text)) return text.length;
  return onlyWide.test(text) ? 2 * text.length : stringWidth(text);
}

interface Cell {
  text: string;
  width: number;
  styles: readonly Style[];
}

export interface WrapOptions {
  width: number;
  /** Stands before the first line. */
  first?: string;
  /** Stands before the others. */
  rest?: string;
}

/** Lines of at most `width` columns, broken at spaces where there are some. Line feeds in spans end a line. */
export function wrapSpans(
  spans: readonly Span[],
  paint: Paint,
  {width, first = '', rest = first}: WrapOptions,
): string[] {
  const lines: string[] = [];
  const roomBehind = (prefix: string) => Math.max(1, width - textWidth(prefix));
  for (const paragraph of paragraphsOf(spans)) {
    const rooms = {first: roomBehind(lines.length === 0 ? first : rest), rest: roomBehind(rest)};
    for (const cells of wrapCells(paragraph, rooms)) {
      lines.push((lines.length === 0 ? first : rest) + paintCells(cells, paint));
    }
  }
  return lines;
}

function paragraphsOf(spans: readonly Span[]): Cell[][] {
  const paragraphs: Cell[][] = [[]];
  for (const {text, styles} of spans) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) paragraphs.push([]);
      for (const grapheme of graphemes(part)) {
        paragraphs.at(-1)!.push({text: grapheme, width: textWidth(grapheme), styles});
      }
    }
  }
  return paragraphs;
}

function wrapCells(cells: readonly Cell[], rooms: {first: number; rest: number}): Cell[][] {
  const lines: Cell[][] = [];
  let start = 0;
  let used = 0;
  let breakAt = -1;
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]!;
    if (used + cell.width > (lines.length === 0 ? rooms.first : rooms.rest) && index > start) {
      const isAtSpace = cell.text === ' ';
      const end = isAtSpace ? index : breakAt > start ? breakAt : index;
      lines.push(cells.slice(start, end));
      start = isAtSpace ? index + 1 : end;
      used = cells.slice(start, index).reduce((sum, each) => sum + each.width, 0);
      breakAt = -1;
      if (isAtSpace) {
        used = 0;
        continue;
      }
    }
    used += cell.width;
    if (cell.text === ' ') breakAt = index + 1;
  }
  lines.push(cells.slice(start));
  return lines;
}

/** Neighbours of one style get their escapes together. */
function paintCells(cells: readonly Cell[], paint: Paint): string {
  let line = '';
  let run = '';
  let styles: readonly Style[] = [];
  for (const cell of cells) {
    if (cell.styles !== styles) {
      if (run !== '') line += paint(run, styles);
      run = '';
      styles = cell.styles;
    }
    run += cell.text;
  }
  return run === '' ? line : line + paint(run, styles);
}

/** The beginning of a text that fits, with a mark where something is missing. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const grapheme of graphemes(text)) {
    used += textWidth(grapheme);
    if (used > width - 1) break;
    cut += grapheme;
  }
  return `${cut}…`;
}
