/** Prompts and tables for a person: control tokens stand out, white space can be made visible, spans are marked. */
import type {PromptToken} from './prompt-tokens.ts';
import type {Span} from './render-prompt-text.ts';

/** A way to write a text; without colours all of them leave it as it is. */
export interface Palette {
  control(text: string): string;
  role(text: string): string;
  generation(text: string): string;
  dim(text: string): string;
  underlined(text: string): string;
  added(text: string): string;
  removed(text: string): string;
}

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const unchanged = (text: string) => text;

const colours: Palette = {
  control: sgr(7, 27),
  role: sgr(36, 39),
  generation: sgr(33, 39),
  dim: sgr(2, 22),
  underlined: sgr(4, 24),
  added: sgr(32, 39),
  removed: sgr(31, 39),
};

export const noColours: Palette = {
  control: unchanged,
  role: unchanged,
  generation: unchanged,
  dim: unchanged,
  underlined: unchanged,
  added: unchanged,
  removed: unchanged,
};

/** `FORCE_COLOR` wins over `NO_COLOR`, both over the terminal. */
export function choosePalette(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): Palette {
  if (env.FORCE_COLOR) return env.FORCE_COLOR === '0' ? noColours : colours;
  return isTerminal && !env.NO_COLOR ? colours : noColours;
}

/** Blanks that nobody sees become signs; a line feed keeps breaking the line. */
function visibleWhitespace(text: string): string {
  return text
    .replaceAll(' ', '·')
    .replaceAll('\t', '→')
    .replaceAll('\r', '␍')
    .replaceAll('\u00a0', '⍽')
    .replaceAll('\n', '⏎\n');
}

export interface PaintOptions {
  palette: Palette;
  controlTexts: readonly string[];
  showsWhitespace: boolean;
}

/** The prompt with its control tokens in reverse and the generation prompt in a colour of its own. */
export function paintPrompt(text: string, spans: readonly Span[], options: PaintOptions): string {
  return spans.map((span) => paintSpan(text.slice(span.start, span.end), span, options)).join('');
}

function paintSpan(text: string, {message}: Span, {palette, controlTexts, showsWhitespace}: PaintOptions): string {
  const shown = (piece: string) => (showsWhitespace ? visibleWhitespace(piece) : piece);
  const plain = (piece: string) => (message === null ? linewise(shown(piece), palette.generation) : shown(piece));
  return splitAt(text, controlTexts)
    .map(({text: piece, isControl}) => (isControl ? palette.control(piece) : plain(piece)))
    .join('');
}

/** Colours end with a line: pagers colour line by line. */
function linewise(text: string, paint: (text: string) => string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : paint(line)))
    .join('\n');
}

function splitAt(text: string, controlTexts: readonly string[]): {text: string; isControl: boolean}[] {
  if (controlTexts.length === 0) return [{text, isControl: false}];
  const alternatives = [...controlTexts].sort((one, other) => other.length - one.length).map(escapePattern);
  const pieces = text.split(new RegExp(`(${alternatives.join('|')})`, 'u'));
  return pieces.map((piece, index) => ({text: piece, isControl: index % 2 === 1})).filter(({text}) => text !== '');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

export function tokenTable(tokens: readonly PromptToken[]): string[] {
  const head = ['#', 'id', 'offset', 'message', 'special', 'token'];
  return table([head, ...tokens.map(tokenRow)]);
}

function tokenRow({index, id, text, isWhole, isSpecial, offset, message}: PromptToken): string[] {
  return [
    String(index),
    String(id),
    offset.join('-'),
    message === null ? 'generation' : String(message),
    isSpecial ? 'yes' : '',
    isWhole ? JSON.stringify(text) : `bytes ${text}`,
  ];
}

/** @param counts tokens of each span; null where there is no tokenizer */
export function spanTable(spans: readonly Span[], counts: readonly (number | null)[], length: number): string[] {
  const head = ['message', 'role', 'characters', 'tokens', 'share'];
  const total = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const rows = spans.map(({start, end, role, message}, index) => {
    const count = counts[index] ?? null;
    const share = count === null ? (end - start) / length : count / Math.max(1, total);
    return [
      message === null ? '' : String(message),
      role ?? 'generation prompt',
      `${start}-${end}`,
      count === null ? '' : String(count),
      `${Math.round(share * 100)} %`,
    ];
  });
  return table([head, ...rows]);
}
