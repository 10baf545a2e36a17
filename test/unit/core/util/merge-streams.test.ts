import {describe, expect, it} from 'vitest';
import {AsyncQueue} from '../../../../src/core/util/async-queue.ts';
import {streamOf} from '../../../../src/core/util/item-stream.ts';
import {mergeStreams} from '../../../../src/core/util/merge-streams.ts';
import {collect, collectUntilError} from '../../../support/collect.ts';

const never = new AbortController().signal;

/** A stream of which the test decides when each item comes; it ends by itself when its signal aborts. */
class ManualStream extends AsyncQueue<string> {
  isClosed = false;

  constructor() {
    super((older, newer) => older + newer);
  }

  override close(): void {
    this.isClosed = true;
    super.close();
  }

  withSignal(signal: AbortSignal): this {
    if (signal.aborted) this.end();
    else signal.addEventListener('abort', () => this.end());
    return this;
  }
}

const createStreams = (count: number) => Array.from({length: count}, () => new ManualStream());

function merge(streams: ManualStream[], signal = never) {
  return mergeStreams(streams.length, (index, leave) => streams[index]!.withSignal(leave), {signal});
}

describe('mergeStreams', () => {
  it('gives items in the order in which they come and ends with the last stream', async () => {
    const [a, b] = createStreams(2) as [ManualStream, ManualStream];
    const merged = merge([a, b]);
    const first = merged.next();
    b.push('b1');
    expect((await first).value).toBe('b1');
    const second = merged.next();
    a.push('a1');
    expect((await second).value).toBe('a1');
    const third = merged.next();
    b.end();
    a.push('a2');
    expect((await third).value).toBe('a2');
    const end = merged.next();
    a.end();
    expect((await end).done).toBe(true);
    expect([a.isClosed, b.isClosed]).toEqual([true, true]);
  });

  it('takes turns between streams that have more', async () => {
    async function* play(items: string): AsyncGenerator<string, void, undefined> {
      yield* items;
    }
    const merged = mergeStreams(2, (index) => streamOf(play(['ab', 'cd'][index]!)), {signal: never});
    expect((await collect(merged)).join('')).toBe('acbd');
  });

  it('loses nothing, whatever the order of arrivals', async () => {
    const streams = createStreams(50);
    const items = collect(merge(streams));
    for (let round = 0; round < 20; round++) {
      for (const [index, stream] of streams.entries()) if ((index * 7 + round) % 3 > 0) stream.push(`${index},`);
      await Promise.resolve();
    }
    for (const stream of streams) stream.end();
    const counts = new Map<string, number>();
    for (const part of (await items).join('').split(',')) counts.set(part, (counts.get(part) ?? 0) + 1);
    const expected = (index: number) => Array.from({length: 20}, (_, round) => (index * 7 + round) % 3 > 0);
    for (let index = 0; index < 50; index++) {
      expect(counts.get(String(index))).toBe(expected(index).filter(Boolean).length);
    }
  });

  it('closes every stream when the reader leaves, also those that wait', async () => {
    const [a, b] = createStreams(2) as [ManualStream, ManualStream];
    const merged = merge([a, b]);
    const first = merged.next();
    a.push('a1');
    await first;
    await merged.return();
    expect([a.isClosed, b.isClosed]).toEqual([true, true]);
  });

  it.each(['the reader leaves', 'another one fails'])('tells the streams that are open when %s', async (event) => {
    const [a, b, c] = createStreams(3) as [ManualStream, ManualStream, ManualStream];
    const signals: AbortSignal[] = [];
    const open = (index: number, leave: AbortSignal) => {
      signals.push(leave);
      return [a, b, c][index]!;
    };
    const merged = mergeStreams(3, open, {signal: never});
    a.push('a1');
    await merged.next();
    const [failing] = event === 'another one fails' ? [merged.next()] : [];
    if (failing) b.fail(new Error('broken'));
    await (failing ? expect(failing).rejects.toThrow('broken') : merged.return());
    expect(signals.map(({aborted}) => aborted)).toEqual([true, true, true]);
  });

  it('tells nobody when all of them have ended', async () => {
    const signals: AbortSignal[] = [];
    const open = (_index: number, leave: AbortSignal) => {
      signals.push(leave);
      const stream = new ManualStream();
      stream.end();
      return stream;
    };
    await collect(mergeStreams(2, open, {signal: never}));
    expect(signals.map(({aborted}) => aborted)).toEqual([false, false]);
  });

  it('ends without an error when the signal aborts', async () => {
    const leave = new AbortController();
    const first = merge(createStreams(2), leave.signal).next();
    leave.abort();
    expect((await first).done).toBe(true);
  });

  it('opens streams with an aborted signal when it has aborted before', async () => {
    const aborted: boolean[] = [];
    const open = (_index: number, leave: AbortSignal) => {
      aborted.push(leave.aborted);
      return new ManualStream().withSignal(leave);
    };
    expect(await collect(mergeStreams(1, open, {signal: AbortSignal.abort()}))).toEqual([]);
    expect(aborted).toEqual([true]);
  });

  it('gives each stream a signal of its own, so that thousands of them cost no more each than one', async () => {
    const signals = new Set<AbortSignal>();
    const open = (_index: number, leave: AbortSignal) => {
      signals.add(leave);
      return new ManualStream().withSignal(leave);
    };
    const leave = new AbortController();
    const end = mergeStreams(1000, open, {signal: leave.signal}).next();
    leave.abort('client-gone');
    expect((await end).done).toBe(true);
    expect(signals.size).toBe(1000);
    expect([...signals].every(({aborted}) => aborted)).toBe(true);
  });

  it('gives out what came before a failure, then fails and closes the others', async () => {
    const [a, b] = createStreams(2) as [ManualStream, ManualStream];
    b.push('last words');
    b.fail(new Error('broken'));
    const {items, error} = await collectUntilError(merge([a, b]));
    expect([items, (error as Error).message, a.isClosed]).toEqual([['last words'], 'broken', true]);
  });
});
