/**
 * Stands between Ink and the terminal, and draws the live part itself. Ink goes up as many rows as it drew lines, which is
 * wrong as soon as a window got narrower and wrapped them, and it clears the whole history where its lines do not fit a
 * low window. Here the lines never wrap, and while something moves the cursor rests at the first row of the live part:
 * terminals keep the cursor at its text, so all that is old lies behind it, whatever the size has become meanwhile.
 */
import {stripVTControlCharacters} from 'node:util';
import {graphemes, textWidth} from './spans.ts';

export interface LiveFrame {
  lines: readonly string[];
  /** Where the person types, in these lines. Null while something moves: the lines show a cursor of their own then. */
  cursor: {x: number; y: number} | null;
}

/** Stands at the front of what Ink takes for the live part, so that it can be told from finished text. */
export const liveMark = '\ufdd0';

const nothing: LiveFrame = {lines: [], cursor: null};

const beginUpdate = '\u001b[?2026h';
const endUpdate = '\u001b[?2026l';
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const wrapOff = '\u001b[?7l';
const wrapOn = '\u001b[?7h';
/** From the second column on, because tmux keeps what is erased from the first place of the screen on in its history. */
const eraseBelow = '\r\u001b[K\u001b[C\u001b[J\r';
const clearVisible = '\u001b[H\u001b[J';
const nextRow = '\r\u001b[B';
const eraseLine = '\u001b[2K';
/** Ink moves the cursor, and erases, by these and nothing else. */
const moves = /^(?:\u001b\[(?:\d*[A-H]|2K|\?25[hl])|\n)*$/;

type Output = Pick<NodeJS.WriteStream, 'columns' | 'write' | 'on' | 'off'>;

export class LiveTerminal {
  readonly isTTY = true;
  /** More than any lines need, so that Ink never clears the terminal. */
  readonly rows = 100_000;
  readonly #output: Output;
  readonly #reflows: boolean;
  #next = nothing;
  #drawn: (LiveFrame & {columns: number}) | null = null;
  /** Text of an update that has begun. */
  #update: string | null = null;

  /** @param reflows whether the terminal wraps lines when it gets narrower; others cut them */
  constructor(output: Output, {reflows}: {reflows: boolean}) {
    this.#output = output;
    this.#reflows = reflows;
  }

  get columns(): number {
    return this.#output.columns;
  }

  readonly on = (event: 'resize', listener: () => void): void => void this.#output.on(event, listener);
  readonly off = (event: 'resize', listener: () => void): void => void this.#output.off(event, listener);

  /** What Ink is about to draw. */
  commit(frame: LiveFrame): void {
    this.#next = frame;
  }

  /** For Ink. */
  readonly write = (text: string): boolean => {
    if (text === beginUpdate) this.#update = '';
    else if (text === endUpdate) this.#endUpdate();
    else if (text !== '') this.#send(this.#translated(text));
    return true;
  };

  /** All that is visible goes; the live part stands at the top then. */
  clear(): void {
    this.#send(this.#erase() + clearVisible + this.#draw());
  }

  #endUpdate(): void {
    const text = this.#update;
    this.#update = null;
    if (text) this.#output.write(beginUpdate + text + endUpdate);
  }

  #send(text: string): void {
    if (this.#update === null) this.#output.write(text);
    else this.#update += text;
  }

  #translated(text: string): string {
    if (text.includes(liveMark)) return this.#erase() + this.#draw();
    if (text === hideCursor) return text;
    if (!moves.test(text)) return this.#erase() + text;
    const isOnlyCursor = !text.includes(eraseLine) && text !== showCursor && this.#next.cursor !== null;
    return this.#erase() + (isOnlyCursor ? this.#draw() : showCursor);
  }

  /** Leaves the cursor where the live part began. */
  #erase(): string {
    const drawn = this.#drawn;
    this.#drawn = null;
    return drawn === null ? '' : up(this.#rowsToTop(drawn)) + eraseBelow;
  }

  #rowsToTop({columns, ...frame}: LiveFrame & {columns: number}): number {
    const isWrapped = this.#reflows && this.columns < columns;
    return isWrapped ? rowsAbove(frame, this.columns) : (frame.cursor?.y ?? 0);
  }

  #draw(): string {
    const {lines, cursor} = this.#next;
    if (lines.length === 0) return showCursor;
    this.#drawn = {lines, cursor, columns: this.columns};
    return hideCursor + drawLines(lines) + placeCursor(lines.length - 1, cursor);
  }
}

/** Makes room with empty rows first: where the window is suddenly too low for the lines, none of them gets into its history. */
function drawLines(lines: readonly string[]): string {
  const below = lines.length - 1;
  return '\n'.repeat(below) + up(below) + wrapOff + lines.join(nextRow) + wrapOn;
}

/** @param last row of the live part, where the cursor stands */
function placeCursor(last: number, cursor: LiveFrame['cursor']): string {
  if (cursor === null) return `\r${up(last)}`;
  return `\r${up(last - cursor.y)}${cursor.x > 0 ? `\u001b[${cursor.x}C` : ''}${showCursor}`;
}

/** Rows between the first row of a frame and the cursor, once its lines are wrapped. */
export function rowsAbove({lines, cursor}: LiveFrame, columns: number): number {
  if (cursor === null) return 0;
  const above = lines.slice(0, cursor.y).reduce((sum, line) => sum + numRows(line, columns), 0);
  return above + numRows(cutHard(lines[cursor.y]!, cursor.x), columns) - 1;
}

/** Signs of two columns go to the next row where only one column is left. */
function numRows(line: string, columns: number): number {
  let rows = 1;
  let used = 0;
  for (const grapheme of graphemes(stripVTControlCharacters(line))) {
    const width = textWidth(grapheme);
    if (used + width > columns) {
      rows++;
      used = 0;
    }
    used += width;
  }
  return rows;
}

function cutHard(line: string, columns: number): string {
  let used = 0;
  const shown = graphemes(stripVTControlCharacters(line));
  const end = shown.findIndex((grapheme) => (used += textWidth(grapheme)) > columns);
  return (end === -1 ? shown : shown.slice(0, end)).join('');
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : '';
}

/** What terminals that reflow have in their environment, as far as we know them. */
const reflowMarks: Readonly<Record<string, RegExp>> = {
  TMUX: /./,
  VTE_VERSION: /./,
  KITTY_WINDOW_ID: /./,
  ALACRITTY_WINDOW_ID: /./,
  TERM: /^(tmux|xterm-kitty|xterm-ghostty|alacritty|foot|wezterm)/,
  TERM_PROGRAM: /^(tmux|iTerm\.app|WezTerm|ghostty)$/,
};

/** These cut lines, and may run inside one of the others and have its environment. */
const cuttingMarks = ['STY', 'XTERM_VERSION'];

/** Whether the terminal wraps old lines when it gets narrower; others cut them. */
export function doesReflow(env: NodeJS.ProcessEnv): boolean {
  if (cuttingMarks.some((name) => env[name])) return false;
  return Object.entries(reflowMarks).some(([name, mark]) => mark.test(env[name] ?? ''));
}
