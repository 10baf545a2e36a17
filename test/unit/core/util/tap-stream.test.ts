import {describe, expect, it} from 'vitest';
import {type ItemStream, streamOf} from '../../../../src/core/util/item-stream.ts';
import {type StreamEnd, type StreamTaps, tapStream} from '../../../../src/core/util/tap-stream.ts';
import {collect, collectUntilError} from '../../../support/collect.ts';

type Stream = ItemStream<number>;

const play = (steps: (number | Error)[], onLeave = () => {}): Stream => streamOf(playSteps(steps, onLeave));

async function* playSteps(steps: (number | Error)[], onLeave: () => void): AsyncGenerator<number, void, undefined> {
  try {
    for (const step of steps) {
      if (step instanceof Error) throw step;
      yield step;
    }
  } finally {
    onLeave();
  }
}

function tapped(open: () => Stream, taps: Partial<StreamTaps<number>> = {}) {
  const [items, ends]: [number[], StreamEnd[]] = [[], []];
  const stream = tapStream(open, {onItem: (item) => items.push(item), onEnd: (end) => ends.push(end), ...taps});
  return {stream, items, ends};
}

describe('tapStream', () => {
  it('passes items on and tells of the end once', async () => {
    const {stream, items, ends} = tapped(() => play([1, 2]));
    expect(await collect(stream)).toEqual([1, 2]);
    expect((await stream.next()).done).toBe(true);
    expect([items, ends]).toEqual([[1, 2], [{type: 'done'}]]);
  });

  it('opens the stream with the first read only', async () => {
    let numOpened = 0;
    const {stream, ends} = tapped(() => play([++numOpened]));
    expect(numOpened).toBe(0);
    await stream.return();
    expect([(await stream.next()).done, numOpened, ends]).toEqual([true, 0, []]);
  });

  it('closes the stream when the reader leaves', async () => {
    let hasLeft = false;
    const {stream, ends} = tapped(() => play([1, 2, 3], () => (hasLeft = true)));
    for await (const _item of stream) break;
    expect([hasLeft, ends]).toEqual([true, [{type: 'left'}]]);
  });

  it('hands a failure on', async () => {
    const error = new Error('broken');
    const {stream, ends} = tapped(() => play([1, error]));
    expect(await collectUntilError(stream)).toEqual({items: [1], error});
    expect(ends).toEqual([{type: 'failed', error}]);
  });

  it('rejects when the stream cannot be opened', async () => {
    const {stream} = tapped(() => {
      throw new Error('no engine');
    });
    await expect(stream.next()).rejects.toThrow('no engine');
  });

  it('fails with the error of the other stream when that cannot be opened', async () => {
    const error = new Error('none is left');
    const replace = () => {
      throw error;
    };
    const {stream, ends} = tapped(() => play([new Error('first')]), {replace});
    expect((await collectUntilError(stream)).error).toBe(error);
    expect(ends).toEqual([{type: 'failed', error}]);
  });

  it('goes on with another stream after a failure', async () => {
    const errors: unknown[] = [];
    const replace = (error: unknown) => (errors.push(error) < 2 ? play([7, 8]) : null);
    const {stream, ends} = tapped(() => play([new Error('first')]), {replace});
    expect(await collect(stream)).toEqual([7, 8]);
    expect([errors.length, ends]).toEqual([1, [{type: 'done'}]]);
  });
});
