import {describe, expect, it} from 'vitest';
import {Random, SeedMixer} from '../../../../src/core/sampling/random.ts';

function take(count: number, random: Random): number[] {
  return Array.from({length: count}, () => random.nextUint32());
}

describe('Random', () => {
  it('gives the numbers of xoshiro128**', () => {
    const published = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849];
    expect(take(8, new Random([1, 2, 3, 4]))).toEqual(published);
  });

  it('mixes seeds as splitmix64', () => {
    const mixer = new SeedMixer(1477776061723855037n);
    expect([mixer.next(), mixer.next(), mixer.next()]).toEqual([
      1985237415132408290n,
      2979275885539914483n,
      13511426838097143398n,
    ]);
  });

  it('repeats itself for the same seed and differs for neighbouring and negative ones', () => {
    const first = take(5, Random.fromSeed(7n));
    expect(take(5, Random.fromSeed(7n))).toEqual(first);
    expect(take(5, Random.fromSeed(8n))).not.toEqual(first);
    expect(take(5, Random.fromSeed(-7n))).not.toEqual(first);
    expect(take(5, Random.fromSeed(7n + (1n << 32n)))).not.toEqual(first);
  });

  it('spreads uniform numbers evenly over [0, 1)', () => {
    const random = Random.fromSeed(3n);
    const counts = new Array<number>(16).fill(0);
    for (let i = 0; i < 16_000; i++) counts[Math.floor(random.nextUniform() * 16)]++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chiSquare).toBeLessThan(37.7); // 15 degrees of freedom, 0.1 %
  });
});
