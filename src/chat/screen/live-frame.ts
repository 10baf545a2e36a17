/**
 * The live lines that stand on the terminal, so that they can be taken away when the window gets narrower. Terminals that
 * reflow have wrapped them by then, and Ink, which counts lines and not rows, would leave the upper ones in the history.
 */
import {stripVTControlCharacters} from 'node:util';
import {graphemes, textWidth} from './spans.ts';

export interface DrawnFrame {
  lines: readonly string[];
  /** Where the cursor stands in these lines; null = below the last one, at the left. */
  cursor: {x: number; y: number} | null;
}

export class LiveFrame {
  #columns: number;
  #isNew = false;
  #next: DrawnFrame | null = null;
  #drawn: DrawnFrame | null = null;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** @param frame what Ink draws next; null where the screen belongs to somebody else */
  commit(frame: DrawnFrame | null): void {
    this.#next = frame;
    this.#isNew = true;
  }

  /** Ink drew the newest frame. */
  drew(): void {
    if (this.#isNew) this.#drawn = this.#next;
    this.#isNew = false;
  }

  /**
   * To be written before Ink hears of the new size, on a terminal that reflows. Leaves the cursor where Ink believes it to
   * be, above nothing but empty rows, so that its own erasing does no harm.
   */
  eraseFor(columns: number): string {
    const isNarrower = columns < this.#columns;
    const frame = this.#drawn;
    this.#columns = columns;
    if (!isNarrower || frame === null || frame.lines.length === 0) return '';
    // Ink draws the old lines once more, cut to the new width, and leaves the cursor below them.
    this.#drawn = {lines: frame.lines.map((line) => cutHard(line, columns)), cursor: null};
    const height = frame.lines.length;
    return `${up(rowsAbove(frame, columns))}\r\u001b[J${'\n'.repeat(height)}${up(height - (frame.cursor?.y ?? height))}`;
  }
}

/** Rows between the first row of a frame and the cursor, once its lines are wrapped. */
export function rowsAbove({lines, cursor}: DrawnFrame, columns: number): number {
  const above = lines.slice(0, cursor?.y).reduce((sum, line) => sum + numRows(line, columns), 0);
  if (cursor === null) return above;
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

/** What such terminals have in their environment, as far as we know them; in all others nothing is taken away. */
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
