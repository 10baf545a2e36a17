import {describe, expect, it} from 'vitest';
import {planArrivals} from '../../../../src/bench/load/arrivals.ts';
import {RandomSource} from '../../../../src/bench/load/random-source.ts';

const base = {numRequests: 4000, requestRate: 50, burstiness: 1, ramp: null};

function gapsOf(options: Partial<typeof base>): number[] {
  const offsets = planArrivals({...base, ...options}, new RandomSource(5));
  return offsets.map((offset, index) => offset - (offsets[index - 1] ?? 0));
}

function momentsOf(samples: number[]) {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  return {mean, variance: samples.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / samples.length};
}

describe('planArrivals', () => {
  it('sends everything at once without a rate', () => {
    expect(planArrivals({...base, numRequests: 3, requestRate: Number.POSITIVE_INFINITY}, new RandomSource(1))).toEqual(
      [0, 0, 0],
    );
  });

  it('keeps the wanted mean rate exactly', () => {
    for (const burstiness of [0.3, 1, 4, Number.POSITIVE_INFINITY]) {
      expect(planArrivals({...base, burstiness}, new RandomSource(2)).at(-1)).toBeCloseTo(80, 6);
    }
  });

  it('draws exponential gaps (Kolmogorov-Smirnov at 1 %)', () => {
    const gaps = gapsOf({}).sort((a, b) => a - b);
    const distance = Math.max(...gaps.map((gap, i) => Math.abs((i + 1) / gaps.length - (1 - Math.exp(-50 * gap)))));
    expect(distance).toBeLessThan(1.63 / Math.sqrt(gaps.length));
  });

  it.each([0.3, 4])('has the variance of burstiness %s', (burstiness) => {
    const {mean, variance} = momentsOf(gapsOf({burstiness}));
    expect((mean * mean) / variance / burstiness).toBeGreaterThan(0.85);
    expect((mean * mean) / variance / burstiness).toBeLessThan(1.15);
  });

  it('gives constant gaps without bursts', () => {
    for (const gap of gapsOf({burstiness: Number.POSITIVE_INFINITY})) expect(gap).toBeCloseTo(0.02, 9);
  });

  it.each([
    ['linear', 10, 20],
    ['exponential', 10, 40],
  ] as const)('goes from one rate to the other: %s', (strategy, startRps, endRps) => {
    const ramp = {strategy, startRps, endRps};
    const options = {numRequests: 101, requestRate: 1, burstiness: Number.POSITIVE_INFINITY, ramp};
    const offsets = planArrivals(options, new RandomSource(1));
    expect(1 / offsets[0]).toBeCloseTo(startRps, 6);
    expect(1 / (offsets[100] - offsets[99])).toBeCloseTo(endRps, 6);
    expect(1 / (offsets[50] - offsets[49])).toBeCloseTo(strategy === 'linear' ? 15 : 20, 6);
  });

  it('begins at once when a ramp begins at 0, and never waits for ever', () => {
    const ramp = {strategy: 'linear', startRps: 0, endRps: 10} as const;
    const offsets = planArrivals(
      {...base, numRequests: 11, burstiness: Number.POSITIVE_INFINITY, ramp},
      new RandomSource(1),
    );
    expect(offsets[0]).toBe(0);
    expect(offsets.slice(1, 4).map((offset, index) => offset - offsets[index])).toEqual(
      [1, 0.5, 1 / 3].map((gap) => expect.closeTo(gap, 9)),
    );
    expect(offsets.every(Number.isFinite)).toBe(true);
  });

  it('is the same for the same seed only', () => {
    const plan = (seed: number) => planArrivals({...base, numRequests: 5}, new RandomSource(seed));
    expect(plan(1)).toEqual(plan(1));
    expect(plan(1)).not.toEqual(plan(2));
  });
});
