import {describe, expect, it} from 'vitest';
import {AsyncQueue} from '../../../../src/core/util/async-queue.ts';

const concat = (older: number[], newer: number[]) => [...older, ...newer];

describe('AsyncQueue', () => {
  it('merges what arrives before the reader comes', async () => {
    const queue = new AsyncQueue<number[]>(concat);
    queue.push([1]);
    queue.push([2]);
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({value: [1, 2], done: false});
  });

  it('wakes a waiting reader for each item', async () => {
    const queue = new AsyncQueue<number[]>(concat);
    const reader = queue[Symbol.asyncIterator]();
    const waiting = reader.next();
    queue.push([1]);
    expect((await waiting).value).toEqual([1]);
    const next = reader.next();
    queue.push([2]);
    expect((await next).value).toEqual([2]);
  });

  it('gives out what is pending before it ends', async () => {
    const queue = new AsyncQueue<number[]>(concat);
    queue.push([1]);
    queue.end();
    queue.push([2]);
    const seen: number[][] = [];
    for await (const item of queue) seen.push(item);
    expect(seen).toEqual([[1]]);
  });

  it('gives out what is pending before it fails, with the first error', async () => {
    const queue = new AsyncQueue<number[]>(concat);
    queue.push([1]);
    queue.fail(new Error('first'));
    queue.fail(new Error('second'));
    const reader = queue[Symbol.asyncIterator]();
    expect((await reader.next()).value).toEqual([1]);
    await expect(reader.next()).rejects.toThrow('first');
  });

  it('ends a reader that waits', async () => {
    const queue = new AsyncQueue<number[]>(concat);
    const waiting = queue[Symbol.asyncIterator]().next();
    queue.end();
    expect((await waiting).done).toBe(true);
  });
});
