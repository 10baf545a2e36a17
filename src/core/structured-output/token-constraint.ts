/**
 * Holds the tokens of one sequence to a grammar: after each token it knows which ones may follow. An end token may follow
 * when the answer is complete, and when nothing else may, it must.
 */
import {GenerationError} from '../errors.ts';
import {impossible, type OutputHolder} from '../sampling/logits-processors/logits-processor.ts';
import type {SamplingParams} from '../sampling/sampling-params.ts';
import type {CompiledConstraint} from './compiled-constraint.ts';
import type {GrammarState} from './grammar-states.ts';

export class TokenConstraint implements OutputHolder {
  readonly #compiled: CompiledConstraint;
  readonly #endIds: number[];
  /** Lists of tokens that have to come, one list after the other, before the constraint begins. */
  readonly #awaited: (readonly number[])[];
  #state: GrammarState;
  #numSeen = 0;
  /** An end token has come, and the sequence goes on all the same. */
  #hasEnded = false;

  constructor(compiled: CompiledConstraint, {eosTokenId, stopTokenIds, constraint}: SamplingParams) {
    this.#compiled = compiled;
    this.#endIds = eosTokenId === null ? stopTokenIds : [eosTokenId, ...stopTokenIds];
    const {startsAfter = [], headerEnd = []} = constraint ?? {};
    this.#awaited = [startsAfter, headerEnd].filter((tokenIds) => tokenIds.length > 0);
    this.#state = compiled.states.start;
  }

  hold(logits: Float32Array, outputTokenIds: readonly number[]): number | null {
    for (; this.#numSeen < outputTokenIds.length; this.#numSeen++) this.#see(outputTokenIds, this.#numSeen);
    if (this.#awaited.length > 0) return null;
    const mask = this.#hasEnded ? null : this.#compiled.maskOf(this.#state);
    if (mask === null || isEmpty(mask)) return this.#keepEnd(logits);
    this.#keepAllowed(logits, mask);
    return null;
  }

  #see(outputTokenIds: readonly number[], index: number): void {
    const tokenId = outputTokenIds[index]!;
    const [awaited] = this.#awaited;
    if (awaited !== undefined) {
      if (endsWith(outputTokenIds, index, awaited)) this.#awaited.shift();
    } else if (!this.#hasEnded) this.#advance(tokenId);
  }

  #advance(tokenId: number): void {
    if (this.#state.isFinal && this.#endIds.includes(tokenId)) {
      this.#hasEnded = true;
      return;
    }
    const follower = this.#compiled.followToken(this.#state, tokenId);
    if (follower === null) throw new GenerationError(`Token ${tokenId} does not fit the constraint of the request.`);
    this.#state = follower;
  }

  /** Nothing can follow but the end, so what other parameters say against end tokens does not count. */
  #keepEnd(logits: Float32Array): number | null {
    if (!this.#hasEnded && !this.#state.isFinal) {
      throw new GenerationError('No token of the vocabulary goes on as the constraint of the request demands.');
    }
    logits.fill(impossible);
    const [endId] = this.#endIds;
    if (endId === undefined) return null;
    logits[endId] = 0;
    return endId;
  }

  /** Hot loop over the vocabulary, 32 tokens at a time. */
  #keepAllowed(logits: Float32Array, mask: Uint32Array): void {
    const ends = this.#state.isFinal ? this.#endIds.map((id) => logits[id]!) : [];
    for (let word = 0; word < mask.length; word++) {
      const bits = mask[word]!;
      if (bits === 0xffffffff) continue;
      const first = word * 32;
      const last = Math.min(first + 32, logits.length);
      if (bits === 0) logits.fill(impossible, first, last);
      else for (let id = first; id < last; id++) if (((bits >>> (id - first)) & 1) === 0) logits[id] = impossible;
    }
    // A model may have more logits than its tokenizer has tokens.
    logits.fill(impossible, Math.min(mask.length * 32, logits.length));
    ends.forEach((logit, index) => {
      logits[this.#endIds[index]!] = logit;
    });
  }
}

const isEmpty = (mask: Uint32Array): boolean => mask.every((bits) => bits === 0);

function endsWith(tokenIds: readonly number[], lastIndex: number, tail: readonly number[]): boolean {
  return tail.every((tokenId, index) => tokenIds[lastIndex - tail.length + 1 + index] === tokenId);
}
