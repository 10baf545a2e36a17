/** `textwrap.wrap` of one line: words in lines of a given width, long words broken, hyphens as places to break. */
import {codePointLength} from '../../util/python-text.ts';
import {substring} from './code-points.ts';
import {valueError} from './python-error.ts';

export interface WrapOptions {
  readonly width: number;
  readonly breaksLongWords: boolean;
  readonly breaksOnHyphens: boolean;
}

/** Python's `[^\d\W]` and its word characters with some punctuation. */
const letter = '[\\p{L}\\p{Nl}\\p{No}_]';
const word = '[\\p{L}\\p{N}_!"\'&.,?]';
const space = '[\\t\\n\\v\\f\\r ]';
const notSpace = '[^\\t\\n\\v\\f\\r ]';
/** A hyphen between letters, after which a line may break. */
const breakingHyphen = `-(?:(?<=${letter}{2}-)|(?<=${letter}-${letter}-))(?=${letter}-?${letter})`;
/** Spaces, em-dashes between words, and words that may end after a hyphen. */
const hyphenPieces = new RegExp(
  `(${space}+|(?<=${word})-{2,}(?=[\\p{L}\\p{N}_])|${notSpace}+?(?:${breakingHyphen}|(?=${space}|$)|(?<=${word})(?=-{2,}[\\p{L}\\p{N}_])))`,
  'u',
);
const spacePieces = new RegExp(`(${space}+)`, 'u');

/** @throws PythonError when the width leaves no room */
export function wrapText(text: string, options: WrapOptions): string[] {
  if (options.width <= 0) throw valueError(`invalid width ${options.width} (must be > 0)`);
  const pattern = options.breaksOnHyphens ? hyphenPieces : spacePieces;
  const pieces = text
    .split(pattern)
    .filter((piece) => piece !== '' && piece !== undefined)
    .reverse();
  const lines: string[] = [];
  while (pieces.length > 0) {
    const line = takeLine(pieces, options, lines.length > 0);
    if (line !== '') lines.push(line);
  }
  return lines;
}

/** Takes the pieces of one line; the next one is the last in the array. Space at its end is dropped, at its start too but in the first line. */
function takeLine(pieces: string[], options: WrapOptions, dropsSpace: boolean): string {
  if (dropsSpace && isBlank(pieces.at(-1)!)) pieces.pop();
  const line: string[] = [];
  let width = 0;
  while (pieces.length > 0 && width + codePointLength(pieces.at(-1)!) <= options.width) {
    width += codePointLength(pieces.at(-1)!);
    line.push(pieces.pop()!);
  }
  if (pieces.length > 0 && codePointLength(pieces.at(-1)!) > options.width)
    line.push(...breakWord(pieces, width, options));
  if (line.length > 0 && isBlank(line.at(-1)!)) line.pop();
  return line.join('');
}

function isBlank(piece: string): boolean {
  return piece.trim() === '';
}

/** The beginning of a word that fits no line. */
function breakWord(pieces: string[], used: number, options: WrapOptions): string[] {
  if (!options.breaksLongWords) return used === 0 ? [pieces.pop()!] : [];
  const piece = pieces.pop()!;
  const room = options.width - used;
  const fitting = substring(piece, 0, room);
  const hyphen = options.breaksOnHyphens ? fitting.lastIndexOf('-') : -1;
  const hasText = /[^-]/.test(fitting.slice(0, Math.max(0, hyphen)));
  const taken = hasText ? fitting.slice(0, hyphen + 1) : fitting;
  pieces.push(piece.slice(taken.length));
  return [taken];
}
