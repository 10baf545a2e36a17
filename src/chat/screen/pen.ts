/** What every part of the screen is drawn with: room, styles and the colours of code. */
import type {CodeColours} from './highlight.ts';
import type {Paint} from './spans.ts';

export interface Pen {
  /** Columns. */
  width: number;
  paint: Paint;
  colours: CodeColours;
}

/** For a part that is indented. */
export function narrower(pen: Pen, columns: number): Pen {
  return {...pen, width: Math.max(1, pen.width - columns)};
}

/** One column stays free: a full line would wrap in some terminals. */
export function usableWidth(columns: number): number {
  return Math.max(10, columns - 1);
}
