/**
 * Reads the chunks of one stream that say nothing but token ids. They are alike to the letter, ids aside, so once one
 * has been parsed the next is compared with it, which is several times as fast.
 */
import type {WireAnswer} from './generate-answer.ts';

/** Where the ids of a chunk begin. */
const idsStart = '"token_ids":[';
const idsPattern = /^\d+(?:,\d+)*$/;

export class RunningChunks {
  #before = '';
  #after = '';

  /** @returns the ids of a chunk that says no more than the one that was learned; else null */
  read(text: string): number[] | null {
    if (this.#before === '' || !text.startsWith(this.#before) || !text.endsWith(this.#after)) return null;
    const ids = text.slice(this.#before.length, text.length - this.#after.length);
    return idsPattern.test(ids) ? ids.split(',').map(Number) : null;
  }

  /** @param answer what the text says */
  learn(text: string, answer: WireAnswer): void {
    const start = text.indexOf(idsStart) + idsStart.length;
    if (!isPlain(answer) || text.lastIndexOf(idsStart) + idsStart.length !== start) return;
    this.#before = text.slice(0, start);
    this.#after = text.slice(text.indexOf(']', start));
  }
}

/** One choice goes on, and there is nothing else. */
function isPlain({choices, usage, error, prompt_logprobs: promptLogprobs}: WireAnswer): boolean {
  const [choice] = choices ?? [];
  if (choices?.length !== 1 || !choice?.token_ids?.length) return false;
  const others = [choice.finish_reason, choice.stop_reason, choice.logprobs, usage, error, promptLogprobs];
  return others.every((value) => value === null || value === undefined);
}
