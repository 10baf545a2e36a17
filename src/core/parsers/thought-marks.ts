/** What marks the thoughts of a format in the tokens of an answer, read off its definition. */
import type {MachineDefinition, Mode} from './format.ts';

export interface ThoughtMarks {
  /** What opens a thought; null when nothing does. */
  open: string | null;
  /** What closes it. */
  close: string;
  /** The answer begins within a thought. */
  startsInside: boolean;
}

/** Null for a format whose thoughts end without a mark of their own, or whose answer begins behind a header. */
export function thoughtMarksOf({start, modes}: MachineDefinition): ThoughtMarks | null {
  const isThought = (name: string | undefined) => name !== undefined && isThoughtMode(modes[name]);
  for (const mode of Object.values(modes)) {
    if (!isThoughtMode(mode)) continue;
    const entries = Object.entries(mode.on ?? {});
    const close = entries.find(([, {to}]) => to !== undefined && !isThought(to) && modes[to]?.kind === 'text');
    if (close === undefined) continue;
    const stays = entries.find(([, {to}]) => to === undefined || isThought(to));
    return {open: stays?.[0] ?? null, close: close[0], startsInside: isThought(start)};
  }
  return null;
}

function isThoughtMode(mode: Mode | undefined): mode is Extract<Mode, {kind: 'text'}> {
  return mode?.kind === 'text' && mode.as === 'reasoning';
}
