import {setImmediate} from 'node:timers/promises';
import {describe, expect, it} from 'vitest';
import {StepLoop} from '../../../../../bench/engine/llama/step-loop.ts';

/** Gives `count` tokens and notes each request for one in the log. */
async function* tokens(name: string, count: number, log: string[]): AsyncGenerator<number, void, void> {
  for (let token = 0; token < count; token++) {
    log.push(`${name}${token}`);
    await setImmediate();
    yield token;
  }
}

describe('StepLoop', () => {
  it('advances decoding streams together', async () => {
    const log: string[] = [];
    const loop = new StepLoop();
    const go = () => true;
    await Promise.all([loop.run(tokens('a', 3, log), go), loop.run(tokens('b', 3, log), go)]);
    expect(log).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
  });

  it('ends a stream by itself or by its reader, and says which', async () => {
    const loop = new StepLoop();
    const seen: number[] = [];
    expect(await loop.run(tokens('a', 2, []), () => true)).toBe('ended');
    expect(await loop.run(tokens('a', 9, []), (token) => seen.push(token) < 3)).toBe('stopped');
    expect(seen).toEqual([0, 1, 2]);
  });

  it('hands an error to the stream it belongs to; the others go on', async () => {
    async function* broken(): AsyncGenerator<number, void, void> {
      yield 1;
      throw new Error('out of memory');
    }
    const loop = new StepLoop();
    const [bad, good] = await Promise.allSettled([
      loop.run(broken(), () => true),
      loop.run(tokens('a', 4, []), () => true),
    ]);
    expect(bad).toMatchObject({status: 'rejected', reason: {message: 'out of memory'}});
    expect(good).toEqual({status: 'fulfilled', value: 'ended'});
  });
});
