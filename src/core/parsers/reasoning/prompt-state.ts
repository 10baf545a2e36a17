/**
 * What the end of the prompt says about the first generated token: a thought that the prompt opened goes on, one that it
 * closed is over. Only the current turn counts: markers in front of the last turn marker say nothing.
 */

export interface ThoughtMarkers {
  open: string;
  close: string;
}

/** What begins a turn of the assistant in the templates of the known families. */
const TURN_MARKERS = [
  '<|im_start|>',
  '<|start_header_id|>',
  '<|start_of_role|>',
  '<|assistant|>',
  '<assistant>',
  '<|im_assistant|>',
  '<｜Assistant｜>',
  '<seed:bos>',
  '<|turn>',
  '[/INST]',
  ']~b]',
] as const;

/** The state that the prompt leaves behind; undefined when it says nothing. */
export function promptState(promptTail: string, {open, close}: ThoughtMarkers): 'reasoning' | 'content' | undefined {
  const turn = Math.max(...TURN_MARKERS.map((marker) => promptTail.lastIndexOf(marker)));
  const opened = promptTail.lastIndexOf(open);
  const closed = promptTail.lastIndexOf(close);
  const last = Math.max(opened, closed);
  if (last < 0 || last < turn) return undefined;
  return opened > closed ? 'reasoning' : 'content';
}
