/**
 * What the end of the prompt says about the first generated token: a thought that the prompt opened goes on, one that it
 * closed is over. Only the current turn counts, so the search ends at the last turn marker where one is known.
 */

export interface ThoughtMarkers {
  open: string;
  close: string;
  /** Markers that begin a turn; what stands in front of the last one belongs to earlier turns. */
  turns?: readonly string[];
}

/** The state that the prompt leaves behind; undefined when it says nothing. */
export function promptState(promptTail: string, markers: ThoughtMarkers): 'reasoning' | 'content' | undefined {
  const turn = Math.max(-1, ...(markers.turns ?? []).map((marker) => promptTail.lastIndexOf(marker)));
  const opened = promptTail.lastIndexOf(markers.open);
  const closed = promptTail.lastIndexOf(markers.close);
  const last = Math.max(opened, closed);
  if (last < 0 || last < turn) return undefined;
  return opened > closed ? 'reasoning' : 'content';
}
