import {describe, expect, it} from 'vitest';
import {PrefixMemory, prefixHashes} from '../../../../../src/core/engine/client/prefix-memory.ts';
import {fakePrompt} from '../../../../support/build-engine.ts';

const prompt = fakePrompt(100, 1);

describe('prefixHashes', () => {
  it('has one number for each whole block', () => {
    expect(prefixHashes(prompt.slice(0, 15), null)).toHaveLength(0);
    expect(prefixHashes(prompt, null)).toHaveLength(6);
  });

  it('is the same for a common beginning and differs from the first other token on', () => {
    const other = prompt.with(40, prompt[40]! + 1);
    const [hashes, others] = [prefixHashes(prompt, null), prefixHashes(other, null)];
    expect(others.slice(0, 2)).toEqual(hashes.slice(0, 2));
    others.slice(2).forEach((hash, index) => void expect(hash).not.toBe(hashes[index + 2]));
  });

  it('keeps salts apart', () => {
    const salts = [null, '', 'a', 'b'];
    expect(new Set(salts.map((salt) => prefixHashes(prompt, salt)[0])).size).toBe(salts.length);
  });

  it('does not take an order of tokens for another one', () => {
    const firsts = Array.from({length: 2000}, (_, seed) => prefixHashes(fakePrompt(16, seed, 50_000), null)[0]);
    expect(new Set(firsts).size).toBe(2000);
  });
});

describe('PrefixMemory', () => {
  it('knows the longest beginning that it has seen', () => {
    const memory = new PrefixMemory(1000);
    memory.remember(prefixHashes(prompt.slice(0, 50), null));
    expect(memory.knownTokens(prefixHashes(prompt, null))).toBe(48);
    expect(memory.knownTokens(prefixHashes(fakePrompt(100, 2), null))).toBe(0);
    memory.forgetAll();
    expect(memory.knownTokens(prefixHashes(prompt, null))).toBe(0);
  });

  it('forgets what was used longest ago, ends first', () => {
    const memory = new PrefixMemory(8 * 16);
    const [first, second] = [prefixHashes(prompt, null), prefixHashes(fakePrompt(64, 3), null)];
    memory.remember(first);
    memory.remember(second);
    expect(memory.knownTokens(second)).toBe(64);
    expect(memory.knownTokens(first)).toBe(64);
  });
});
