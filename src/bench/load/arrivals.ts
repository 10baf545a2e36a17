/**
 * When each request is to be sent: the whole plan is made before the first one, in seconds from the start. Sending
 * follows the plan and never a gap after the last send, so delays do not add up.
 */
import type {RandomSource} from './random-source.ts';

export interface Ramp {
  strategy: 'linear' | 'exponential';
  startRps: number;
  endRps: number;
}

export interface ArrivalOptions {
  numRequests: number;
  /** Requests per second; Infinity = all at once. */
  requestRate: number;
  /** Shape of the gamma distribution of the gaps: 1 = Poisson arrivals, below 1 = bursts, Infinity = constant gaps. */
  burstiness: number;
  /** In place of a rate. */
  ramp: Ramp | null;
}

/** @returns seconds from the start, ascending, one for each request */
export function planArrivals(options: ArrivalOptions, random: RandomSource): number[] {
  const {numRequests, ramp, requestRate} = options;
  if (ramp === null && requestRate === Number.POSITIVE_INFINITY) return new Array<number>(numRequests).fill(0);
  const rates = Array.from({length: numRequests}, (_, index) =>
    ramp === null ? requestRate : rateAt(ramp, index, numRequests),
  );
  const offsets = accumulate(rates.map((rate) => gap(rate, options.burstiness, random)));
  return ramp === null ? stretch(offsets, numRequests / requestRate) : offsets;
}

/** A ramp that begins at 0 has its first request at once. */
function gap(rate: number, burstiness: number, random: RandomSource): number {
  if (rate === 0) return 0;
  return burstiness === Number.POSITIVE_INFINITY ? 1 / rate : random.gamma(burstiness, 1 / (rate * burstiness));
}

/** The rate of a ramp at one of its requests. */
export function rateAt({strategy, startRps, endRps}: Ramp, index: number, numRequests: number): number {
  const progress = index / Math.max(numRequests - 1, 1);
  return strategy === 'linear' ? startRps + (endRps - startRps) * progress : startRps * (endRps / startRps) ** progress;
}

function accumulate(gaps: readonly number[]): number[] {
  let time = 0;
  return gaps.map((gap) => (time += gap));
}

/** So that the last one comes exactly at the end: the mean rate is the wanted one whatever was drawn. */
function stretch(offsets: readonly number[], duration: number): number[] {
  const last = offsets.at(-1) ?? 0;
  return last === 0 ? [...offsets] : offsets.map((offset) => (offset * duration) / last);
}
