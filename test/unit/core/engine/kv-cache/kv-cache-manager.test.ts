import {describe, expect, it} from 'vitest';
import {
  KvCacheManager,
  type KvCacheOptions,
  type RowOwner,
} from '../../../../../src/core/engine/kv-cache/kv-cache-manager.ts';
import {FakeModelRunner} from '../../../../support/fake-model-runner.ts';

function build(options: Partial<KvCacheOptions> = {}, numRows = 4) {
  const store = new FakeModelRunner({numRows, rowCapacity: 128});
  const cache = new KvCacheManager(store, {maxTokens: numRows * 128, enablePrefixCaching: true, ...options});
  return {store, cache};
}

function owner(tokenIds: number[], cacheSalt: string | null = null): RowOwner & {tokenIds: number[]} {
  return {row: -1, tokenIds, cacheSalt, numPromptTokens: tokenIds.length, mayReusePrefix: true};
}

function range(length: number, first = 0): number[] {
  return Array.from({length}, (_, i) => (first + i) % 60);
}

/** What the scheduler and the runner do: room, forward pass, commit. */
async function compute({store, cache}: ReturnType<typeof build>, sequence: RowOwner, end = sequence.tokenIds.length) {
  const start = cache.numTokens(sequence);
  if (!cache.reserve(sequence, end)) return false;
  const tokenIds = sequence.tokenIds.slice(start, end);
  await store.execute({decodes: [], prefills: [{row: sequence.row, start, tokenIds, numLogits: 0}]});
  cache.commit(sequence, end - start);
  cache.checkInvariants();
  return true;
}

async function runAndRelease(setup: ReturnType<typeof build>, sequence: RowOwner) {
  setup.cache.admit(sequence);
  await compute(setup, sequence);
  setup.cache.release(sequence, {keepsContent: true});
  setup.cache.checkInvariants();
}

describe('KvCacheManager', () => {
  it('reuses all but the last two tokens of a repeated prompt, in place', async () => {
    const setup = build();
    await runAndRelease(setup, owner(range(40)));
    expect(setup.cache.numCachedTokens).toBe(40);
    expect(setup.cache.admit(owner(range(40)))).toBe(38);
    expect(setup.store.numCopiedTokens).toBe(0);
    expect(setup.cache.numUsedTokens).toBe(38);
  });

  it('leaves no single token of a prompt to be computed when an output comes again', async () => {
    const setup = build();
    await runAndRelease(setup, owner(range(39)));
    expect(setup.cache.admit({...owner(range(50)), numPromptTokens: 40})).toBe(38);
  });

  it('copies what a busy row holds', async () => {
    const setup = build();
    const busy = owner(range(40));
    setup.cache.admit(busy);
    await compute(setup, busy);
    const next = owner([...range(40), 7, 8]);
    expect(setup.cache.admit(next)).toBe(40);
    expect(setup.store.numCopiedTokens).toBe(40);
    expect(next.row).not.toBe(busy.row);
    await compute(setup, next);
  });

  it('says that a longer common beginning is being computed', async () => {
    const setup = build();
    const first = owner(range(60));
    setup.cache.admit(first);
    await compute(setup, first, 20);
    const second = owner([...range(50), 59]);
    expect(setup.cache.isPrefixUnderway(second, [first])).toBe(true);
    expect(setup.cache.isPrefixUnderway(owner(range(50, 5)), [first])).toBe(false);
    await compute(setup, first);
    expect(setup.cache.isPrefixUnderway(second, [first])).toBe(false);
  });

  it('shares nothing between salts', async () => {
    const setup = build();
    await runAndRelease(setup, owner(range(40), 'a'));
    expect(setup.cache.admit(owner(range(40), 'b'))).toBe(0);
    expect(setup.cache.admit(owner(range(40)))).toBe(0);
    expect(setup.cache.admit(owner(range(40), 'a'))).toBe(38);
  });

  it('keeps nothing when prefix caching is off or the content may be broken', async () => {
    const off = build({enablePrefixCaching: false});
    await runAndRelease(off, owner(range(40)));
    expect(off.cache.numCachedTokens).toBe(0);
    expect(off.cache.admit(owner(range(40)))).toBe(0);

    const on = build();
    const broken = owner(range(40));
    on.cache.admit(broken);
    await compute(on, broken);
    on.cache.release(broken, {keepsContent: false});
    expect(on.cache.numCachedTokens).toBe(0);
  });

  it('gives up cached content from the one used longest ago when memory is short', async () => {
    const setup = build({maxTokens: 160});
    await runAndRelease(setup, owner(range(64, 0)));
    await runAndRelease(setup, owner(range(64, 20)));
    await runAndRelease(setup, owner(range(96, 40)));
    expect(setup.cache.numCachedTokens).toBe(160);
    expect(setup.cache.admit(owner(range(64, 20)))).toBe(62);
  });

  it('says no when owners alone need more than there is, and changes nothing by it', async () => {
    const setup = build({maxTokens: 128}, 2);
    const [first, second] = [owner(range(112)), owner(range(64, 9))];
    setup.cache.admit(first);
    await compute(setup, first);
    setup.cache.admit(second);
    expect(await compute(setup, second, 16)).toBe(true);
    expect(await compute(setup, second, 17)).toBe(false);
    setup.cache.checkInvariants();
    setup.cache.release(first, {keepsContent: true});
    expect(await compute(setup, second)).toBe(true);
  });

  it('does not let a sequence in that would push the others out', () => {
    const {cache} = build({maxTokens: 128});
    const first = owner(range(60));
    expect(cache.canAdmit(first)).toBe(true);
    cache.admit(first);
    expect(cache.canAdmit(owner(range(60)))).toBe(false);
    expect(cache.canAdmit(owner(range(20)))).toBe(true);
  });

  it('gives nothing to a sequence all of whose tokens must be computed', async () => {
    const setup = build();
    const running = owner(range(50));
    setup.cache.admit(running);
    await compute(setup, running);
    await runAndRelease(setup, owner(range(50)));
    const picky = {...owner(range(60)), mayReusePrefix: false};
    expect(setup.cache.isPrefixUnderway(picky, [running])).toBe(false);
    expect(setup.cache.admit(picky)).toBe(0);
    expect(await compute(setup, picky)).toBe(true);
  });

  it('keeps to the budget and to the content when rows are exchanged', async () => {
    const setup = build({maxTokens: 176}, 3);
    const [long, gone, short] = [owner(range(96)), owner(range(30, 20)), owner(range(34, 40))];
    for (const sequence of [long, gone, short]) {
      setup.cache.admit(sequence);
      expect(await compute(setup, sequence)).toBe(true);
    }
    expect([long, gone, short].map(({row}) => row)).toEqual([0, 1, 2]);
    setup.cache.release(gone, {keepsContent: true});
    setup.cache.gather([long, short]);
    setup.cache.checkInvariants();
    expect(Math.abs(long.row - short.row)).toBe(1);
    expect(setup.store.numSwaps).toBe(1);
    short.tokenIds.push(5);
    expect(await compute(setup, short)).toBe(true);
    expect(setup.cache.admit(owner(range(30, 20)))).toBe(28);
  });
});
