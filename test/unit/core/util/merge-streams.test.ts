import {describe, expect, it} from 'vitest';
import {mergeStreams} from '../../../../src/core/util/merge-streams.ts';

const never = new AbortController().signal;

/** A stream of which the test decides when each value comes. */
function createManualStream() {
  const waiting: ((value: string | null) => void)[] = [];
  const state = {isClosed: false};
  async function* stream(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        const value = await new Promise<string | null>((resolve) => {
          waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(null), {once: true});
        });
        if (value === null) return;
        yield value;
      }
    } finally {
      state.isClosed = true;
    }
  }
  return {stream, state, emit: (value: string | null) => waiting.shift()!(value)};
}

function merge(streams: {stream: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>}[], signal = never) {
  return mergeStreams(streams.length, (index, leave) => streams[index]!.stream(leave), {signal});
}

describe('mergeStreams', () => {
  it('gives values in the order in which they come and ends with the last stream', async () => {
    const [a, b] = [createManualStream(), createManualStream()];
    const merged = merge([a, b]);
    const first = merged.next();
    b.emit('b1');
    expect((await first).value).toEqual({index: 1, value: 'b1'});
    const second = merged.next();
    a.emit('a1');
    expect((await second).value).toEqual({index: 0, value: 'a1'});
    const third = merged.next();
    b.emit(null);
    a.emit('a2');
    expect((await third).value).toEqual({index: 0, value: 'a2'});
    const end = merged.next();
    a.emit(null);
    expect((await end).done).toBe(true);
    expect([a.state.isClosed, b.state.isClosed]).toEqual([true, true]);
  });

  it('closes every stream when the reader leaves, also those that wait', async () => {
    const [a, b] = [createManualStream(), createManualStream()];
    const merged = merge([a, b]);
    const first = merged.next();
    a.emit('a1');
    await first;
    await merged.return();
    expect([a.state.isClosed, b.state.isClosed]).toEqual([true, true]);
  });

  it('ends without an error when the signal aborts', async () => {
    const [a, b] = [createManualStream(), createManualStream()];
    const leave = new AbortController();
    const merged = merge([a, b], leave.signal);
    const first = merged.next();
    leave.abort();
    expect((await first).done).toBe(true);
  });

  it('opens streams with an aborted signal when it has aborted before', async () => {
    async function* stream(leave: AbortSignal): AsyncGenerator<boolean, void, undefined> {
      yield leave.aborted;
    }
    const merged = mergeStreams(1, (_index, leave) => stream(leave), {signal: AbortSignal.abort()});
    expect((await merged.next()).value).toEqual({index: 0, value: true});
  });

  it('gives each stream a signal of its own, so that thousands of them cost no more each than one', async () => {
    const signals = new Set<AbortSignal>();
    const open = (_index: number, leave: AbortSignal) => {
      signals.add(leave);
      return createManualStream().stream(leave);
    };
    const leave = new AbortController();
    const end = mergeStreams(1000, open, {signal: leave.signal}).next();
    leave.abort('client-gone');
    expect((await end).done).toBe(true);
    expect(signals.size).toBe(1000);
    expect([...signals].every(({aborted}) => aborted)).toBe(true);
  });

  it('gives out what came before a failure, then fails and closes the others', async () => {
    const a = createManualStream();
    const failing = {
      async *stream(): AsyncGenerator<string, void, undefined> {
        yield 'last words';
        throw new Error('broken');
      },
    };
    const merged = merge([a, failing]);
    expect((await merged.next()).value).toEqual({index: 1, value: 'last words'});
    await expect(merged.next()).rejects.toThrow('broken');
    expect(a.state.isClosed).toBe(true);
  });
});
