/**
 * Seeded random numbers: xoshiro128** (Blackman and Vigna), its state filled by splitmix64 from a 64-bit seed. Every
 * sequence has its own generator, so its draws do not depend on what else runs: same seed, same numbers.
 */

const mask64 = (1n << 64n) - 1n;
const goldenGamma = 0x9e3779b97f4a7c15n;

/** splitmix64: a sequence of well mixed 64-bit numbers, also for seeds that are close together. */
export class SeedMixer {
  #state: bigint;

  /** @param seed any integer; counted modulo 2^64 */
  constructor(seed: bigint) {
    this.#state = seed & mask64;
  }

  /** The next number, 0..2^64-1. */
  next(): bigint {
    this.#state = (this.#state + goldenGamma) & mask64;
    let z = this.#state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask64;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask64;
    return z ^ (z >> 31n);
  }
}

export type RandomState = [number, number, number, number];

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param state four 32-bit numbers, not all zero */
  constructor(state: RandomState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** @param seed any integer; counted modulo 2^64 */
  static fromSeed(seed: bigint): Random {
    const mixer = new SeedMixer(seed);
    const [first, second] = [mixer.next(), mixer.next()];
    const low32 = 0xffffffffn;
    return new Random([first & low32, first >> 32n, second & low32, second >> 32n].map(Number) as RandomState);
  }

  /** The next 32 random bits as a number 0..2^32-1. */
  nextUint32(): number {
    const result = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotateLeft(this.#d, 11);
    return result;
  }

  /** Uniform in [0, 1), with 53 random bits. */
  nextUniform(): number {
    const high = this.nextUint32() >>> 5;
    const low = this.nextUint32() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
