/**
 * Which beginnings of prompts an engine has seen, told from outside: hashes of whole blocks, each chained to the one
 * before, so that a block counts only together with everything ahead of it. What was used longest ago is forgotten.
 * It is a guess about the engine's cache; being wrong costs time, never an answer.
 */

/** Tokens of a block; shorter common beginnings are not worth a detour. */
const prefixBlockTokens = 16;

/** One number for each whole block, under the salt. */
export function prefixHashes(tokenIds: readonly number[], salt: string | null): number[] {
  let [low, high] = [...(salt ?? '')].reduce<[number, number]>(
    ([a, b], character) => mix(a, b, character.codePointAt(0)!),
    salt === null ? [0x811c9dc5, 0x9e3779b9] : [0x1b873593, 0x85ebca6b],
  );
  const hashes: number[] = [];
  // A loop without closures: it runs over every token of every prompt.
  for (let index = 0; index < tokenIds.length; index++) {
    low = Math.imul(low ^ (tokenIds[index]! + 1), 0x01000193);
    high = Math.imul(high ^ (low >>> 15) ^ tokenIds[index]!, 0x5bd1e995);
    if ((index + 1) % prefixBlockTokens === 0) hashes.push((high >>> 11) * 2 ** 32 + (low >>> 0));
  }
  return hashes;
}

function mix(low: number, high: number, value: number): [number, number] {
  const mixed = Math.imul(low ^ (value + 1), 0x01000193);
  return [mixed, Math.imul(high ^ (mixed >>> 15) ^ value, 0x5bd1e995)];
}

export class PrefixMemory {
  readonly #maxBlocks: number;
  /** In the order of their last use. */
  readonly #known = new Set<number>();

  /** @param maxTokens that the engine's cache can hold */
  constructor(maxTokens: number) {
    this.#maxBlocks = Math.max(1, Math.floor(maxTokens / prefixBlockTokens));
  }

  /** How many tokens of the beginning have been seen. */
  knownTokens(hashes: readonly number[]): number {
    const firstUnknown = hashes.findIndex((hash) => !this.#known.has(hash));
    return (firstUnknown === -1 ? hashes.length : firstUnknown) * prefixBlockTokens;
  }

  /** The end of a chain is of no use without its beginning, so it is the first to be forgotten. */
  remember(hashes: readonly number[]): void {
    for (let index = hashes.length - 1; index >= 0; index--) {
      this.#known.delete(hashes[index]!);
      this.#known.add(hashes[index]!);
    }
    for (const oldest of this.#known) {
      if (this.#known.size <= this.#maxBlocks) break;
      this.#known.delete(oldest);
    }
  }

  forgetAll(): void {
    this.#known.clear();
  }
}
