/**
 * Drafts from the text itself, after vllm/v1/spec_decode/ngram_proposer.py: where the last tokens have stood before, what
 * followed them there may follow again. Of several places the one with the longest match counts, of equal ones the
 * latest. A draft may run into itself, so a loop is continued as a loop.
 */
import type {Speculation} from '../../config/speculative-config.ts';

/** Guesses what comes after a sequence. */
export interface DraftSource {
  /** @returns at most `most` tokens that may come next; none when nothing is known */
  draftAfter(tokenIds: readonly number[], most: number): number[];
}

export class NgramDrafts implements DraftSource {
  readonly #speculation: Speculation;

  constructor(speculation: Speculation) {
    this.#speculation = speculation;
  }

  draftAfter(tokenIds: readonly number[], most: number): number[] {
    const end = this.#endOfBestMatch(tokenIds);
    if (end === null) return [];
    const draft: number[] = [];
    const known = (index: number) => tokenIds[index] ?? (draft[index - tokenIds.length] as number);
    for (let index = end; draft.length < Math.min(most, this.#speculation.maxDraftTokens); index++) {
      draft.push(known(index));
    }
    return draft;
  }

  /** Where the tokens that match the last ones end; null when fewer than the least match. Hot loop over the sequence. */
  #endOfBestMatch(tokenIds: readonly number[]): number | null {
    const {minMatch, maxMatch} = this.#speculation;
    const last = tokenIds[tokenIds.length - 1];
    let [bestLength, best] = [minMatch - 1, null as number | null];
    for (let end = tokenIds.length - 1; end > bestLength && bestLength < maxMatch; end--) {
      if (tokenIds[end - 1] !== last) continue;
      const length = matchLength(tokenIds, end, maxMatch);
      if (length > bestLength) [bestLength, best] = [length, end];
    }
    return best;
  }
}

/** How many tokens before `end` equal those at the end of the sequence, up to `most`. */
function matchLength(tokenIds: readonly number[], end: number, most: number): number {
  let length = 0;
  while (length < most && length < end && tokenIds[end - 1 - length] === tokenIds[tokenIds.length - 1 - length])
    length++;
  return length;
}
