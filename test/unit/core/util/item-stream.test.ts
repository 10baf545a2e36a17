import {describe, expect, it} from 'vitest';
import {AsyncQueue} from '../../../../src/core/util/async-queue.ts';
import {type ItemStream, openStream, readItems, streamOf} from '../../../../src/core/util/item-stream.ts';
import {promiseWithResolver} from '../../../../src/core/util/promise-with-resolver.ts';
import {collect, collectUntilError} from '../../../support/collect.ts';

const createQueue = () => new AsyncQueue<string>((older, newer) => older + newer);

async function* count(end: number, log: string[] = []): AsyncGenerator<number, void, undefined> {
  try {
    for (let item = 0; item < end; item++) yield item;
  } finally {
    log.push('left');
  }
}

describe('readItems', () => {
  it('takes what is there without waiting', async () => {
    const queue = createQueue();
    const seen: string[] = [];
    const reading = readItems(queue, (item) => void seen.push(item));
    queue.push('a');
    await Promise.resolve();
    queue.push('b');
    queue.end();
    await reading;
    expect(seen.join('')).toBe('ab');
  });

  it('waits for what taking an item waits for', async () => {
    const log: string[] = [];
    await readItems(streamOf(count(2)), async (item) => {
      await Promise.resolve();
      log.push(`taken ${item}`);
    });
    expect(log).toEqual(['taken 0', 'taken 1']);
  });

  it('closes the stream when taking fails', async () => {
    const log: string[] = [];
    const failing = readItems(streamOf(count(9, log)), () => {
      throw new Error('full');
    });
    await expect(failing).rejects.toThrow('full');
    await new Promise(setImmediate);
    expect(log).toEqual(['left']);
  });
});

describe('streamOf', () => {
  it('is the generator', async () => {
    expect(await collect(streamOf(count(3)))).toEqual([0, 1, 2]);
  });

  it('fails once, after what came before', async () => {
    async function* broken(): AsyncGenerator<number, void, undefined> {
      yield 1;
      throw new Error('broken');
    }
    const stream = streamOf(broken());
    expect(await collectUntilError(stream)).toMatchObject({items: [1], error: {message: 'broken'}});
    expect((await stream.next()).done).toBe(true);
  });

  it('runs what the generator does at its end when the reader leaves', async () => {
    const log: string[] = [];
    for await (const _item of streamOf(count(3, log))) break;
    await new Promise(setImmediate);
    expect(log).toEqual(['left']);
  });
});

describe('openStream', () => {
  it('opens with the first read and gives the items', async () => {
    let numOpened = 0;
    const stream = openStream(async () => {
      numOpened++;
      return streamOf(count(2));
    });
    expect(numOpened).toBe(0);
    expect([await collect(stream), numOpened]).toEqual([[0, 1], 1]);
  });

  it('fails when it cannot be opened, once', async () => {
    const stream = openStream<number>(() => Promise.reject(new Error('no room')));
    await expect(stream.next()).rejects.toThrow('no room');
    expect((await stream.next()).done).toBe(true);
  });

  it('closes what was being opened when the reader left', async () => {
    const log: string[] = [];
    const {promise, resolve} = promiseWithResolver<ItemStream<string>>();
    const stream = openStream(() => promise);
    const first = stream.next();
    await stream.return();
    const queue = createQueue();
    const close = queue.close.bind(queue);
    queue.close = () => {
      log.push('closed');
      close();
    };
    resolve(queue);
    expect((await first).done).toBe(true);
    expect(log).toEqual(['closed']);
  });
});
