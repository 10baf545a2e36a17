/**
 * Rotary tables and their scalings. Every scaling comes down to one divisor for the frequency of each rotated pair and
 * one factor for cosines and sines, so the graph knows a single kind of table.
 */

export interface RotaryTable {
  base: number;
  /** Dimensions of a head that are rotated; the rest passes. */
  size: number;
  /** Of each pair's frequency; null = all 1. */
  divisors: readonly number[] | null;
  /** Factor of cosines and sines. */
  amplitude: number;
}

export interface BandScaling {
  factor: number;
  lowFrequencyFactor: number;
  highFrequencyFactor: number;
  originalLength: number;
}

export interface YarnScaling {
  factor: number;
  betaFast: number;
  betaSlow: number;
  originalLength: number;
  /** Borders of the ramp are rounded to whole pairs. */
  truncates: boolean;
}

/** Frequency of a pair before scaling, in radians per position. */
const frequencyOf = (pair: number, base: number, size: number) => base ** ((-2 * pair) / size);

export function linearDivisors(size: number, factor: number): number[] {
  return Array.from({length: size / 2}, () => factor);
}

/** Llama 3: long waves are stretched, short ones kept, those between blended. */
export function bandDivisors(base: number, size: number, scaling: BandScaling): number[] {
  const {factor, lowFrequencyFactor, highFrequencyFactor, originalLength} = scaling;
  return Array.from({length: size / 2}, (_, pair) => {
    const turns = (originalLength * frequencyOf(pair, base, size)) / (2 * Math.PI);
    const share = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
    const kept = Math.min(1, Math.max(0, share));
    return 1 / ((1 - kept) / factor + kept);
  });
}

/** YaRN: pairs that turn often are kept, those that turn seldom stretched, with a ramp between. */
export function yarnDivisors(base: number, size: number, scaling: YarnScaling): number[] {
  const {factor, betaFast, betaSlow, truncates} = scaling;
  const first = pairWithTurns(betaFast, base, size, scaling.originalLength);
  const last = pairWithTurns(betaSlow, base, size, scaling.originalLength);
  const low = Math.max(0, truncates ? Math.floor(first) : first);
  const high = Math.min(size - 1, truncates ? Math.ceil(last) : last);
  const width = high === low ? 0.001 : high - low;
  return Array.from({length: size / 2}, (_, pair) => {
    const stretched = Math.min(1, Math.max(0, (pair - low) / width));
    return 1 / (stretched / factor + 1 - stretched);
  });
}

/** Position (not a whole number) of the pair that turns so often in the original length. */
function pairWithTurns(turns: number, base: number, size: number, originalLength: number): number {
  return (size * Math.log(originalLength / (turns * 2 * Math.PI))) / (2 * Math.log(base));
}

/** YaRN's factor of cosines and sines for a stretch. */
export function yarnAmplitude(factor: number, multiplier = 1): number {
  return factor <= 1 ? 1 : 0.1 * multiplier * Math.log(factor) + 1;
}

/** LongRoPE's factor of cosines and sines. */
export function longRopeAmplitude(contextLength: number, originalLength: number): number {
  const stretch = contextLength / originalLength;
  return stretch <= 1 ? 1 : Math.sqrt(1 + Math.log(stretch) / Math.log(originalLength));
}

/** @param map cosine or sine @returns `[numPositions, size / 2]` */
export function tabulate(
  {base, size, divisors, amplitude}: RotaryTable,
  numPositions: number,
  map: (angle: number) => number,
): Float32Array {
  const pairs = size / 2;
  const frequencies = Float64Array.from(
    {length: pairs},
    (_, pair) => frequencyOf(pair, base, size) / (divisors?.[pair] ?? 1),
  );
  const table = new Float32Array(numPositions * pairs);
  for (let position = 0; position < numPositions; position++) {
    for (let pair = 0; pair < pairs; pair++) {
      table[position * pairs + pair] = amplitude * map(position * (frequencies[pair] as number));
    }
  }
  return table;
}
