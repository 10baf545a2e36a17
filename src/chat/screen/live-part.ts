/** The live part as a whole, in the rows there are: what goes on, the input, the status line. Always lower than the window. */
import type {TypedInput} from '../input/input-model.ts';
import type {Phase, ViewState} from '../state/view-state.ts';
import {drawInput} from './draw-input.ts';
import {approvalKeys, drawActivity, statusLine} from './draw-live.ts';
import type {LiveFrame} from './live-terminal.ts';
import type {Pen} from './pen.ts';

export interface LivePartContext extends Pen {
  /** Of the window. */
  rows: number;
  nowMs: number;
  /** About the tools, for the status line. */
  toolsText: string | null;
}

/** In these nothing is drawn unless a key is pressed. */
const restingPhases: readonly Phase[] = ['idle', 'tool-approval'];
/** Lower windows have no row for a gap. */
const leastRowsWithGap = 10;

/** @returns at least the input, however low the window; nothing while another program has the terminal */
export function drawLivePart(state: ViewState, typed: TypedInput, context: LivePartContext): LiveFrame {
  // At the end the live part goes, so that the shell's prompt follows the talk.
  if (state.hasQuit || state.isCovered) return {lines: [], cursor: null};
  const {rows, width, paint, toolsText} = context;
  const isMoving = !restingPhases.includes(state.phase);
  // One row is left for what is finished.
  const room = Math.max(1, rows - 1);
  const input = drawInput(hinted(typed, state), {
    width,
    maxLines: Math.ceil(room / 3),
    paint,
    showsCursor: isMoving,
  });
  const below =
    room > input.lines.length ? [statusLine(state, {toolsText, stopText: stopText(state.phase, typed)}, context)] : [];
  const gap = rows >= leastRowsWithGap ? [''] : [];
  const maxLines = room - input.lines.length - below.length - gap.length;
  const above = [...drawActivity(state, {...context, maxLines}), ...gap];
  const {x, y} = input.cursor;
  return {lines: [...above, ...input.lines, ...below], cursor: isMoving ? null : {x, y: above.length + y}};
}

/** What to type is another thing while a call waits for a word. */
function hinted(typed: TypedInput, {phase, canAllow}: ViewState): TypedInput {
  if (phase !== 'tool-approval' || typed.purpose !== 'message') return typed;
  const keys = approvalKeys(canAllow).map(([key]) => key);
  return {...typed, hint: `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`};
}

function stopText(phase: Phase, {isWaiting}: TypedInput): string | null {
  const texts = [isWaiting ? 'your message goes next' : '', phase === 'idle' ? '' : 'esc to stop'];
  return texts.filter((text) => text !== '').join(', ') || null;
}
