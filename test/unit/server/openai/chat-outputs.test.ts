import {describe, expect, it} from 'vitest';
import type {ChatEvent} from '../../../../src/core/parsers/events.ts';
import {type ChatOutput, readOutputs} from '../../../../src/server/openai/chat-outputs.ts';

const text = (choice: number, content: string): ChatEvent => ({
  choice,
  type: 'delta',
  text: content,
  tokenIds: [content.length],
  logprobs: null,
  reading: null,
});
const finish = (choice: number): ChatEvent => ({
  choice,
  type: 'finish',
  finishReason: 'stop',
  stopReason: null,
  numTokens: 1,
});

/** Numbers stand for a pause of the event loop. */
async function* play(
  steps: (ChatEvent | 'pause' | Error)[],
  onLeave = () => {},
): AsyncGenerator<ChatEvent, void, undefined> {
  try {
    for (const step of steps) {
      if (step === 'pause') await new Promise((resolve) => setTimeout(resolve, 5));
      else if (step instanceof Error) throw step;
      else yield step;
    }
  } finally {
    onLeave();
  }
}

async function collect(events: AsyncGenerator<ChatEvent, void, undefined>): Promise<string[]> {
  const seen: string[] = [];
  for await (const output of readOutputs(events)) seen.push(describeOutput(output));
  return seen;
}

const describeOutput = ({choice, text: content, finish: end}: ChatOutput) => `${choice}:${content}${end ? '.' : ''}`;

describe('readOutputs', () => {
  it('joins the last text of a choice with its end', async () => {
    expect(await collect(play([text(0, 'a'), text(0, 'b'), finish(0)]))).toEqual(['0:a', '0:b.']);
  });

  it('keeps choices apart', async () => {
    const steps = [text(0, 'a'), text(1, 'x'), finish(0), text(1, 'y'), finish(1)];
    expect(await collect(play(steps))).toEqual(['0:a.', '1:x', '1:y.']);
  });

  it('gives text out before an end that comes later', async () => {
    expect(await collect(play([text(0, 'a'), 'pause', finish(0)]))).toEqual(['0:a', '0:.']);
  });

  it('gives the last text out when there is no end', async () => {
    expect(await collect(play([text(0, 'a')]))).toEqual(['0:a']);
  });

  it('does not wait for the next event', async () => {
    let giveUp: (value: IteratorResult<ChatEvent, void>) => void = () => {};
    const events = play([text(0, 'a')]);
    const firstOnly = {
      ...events,
      next: async () => {
        const result = await events.next();
        return result.done ? new Promise<IteratorResult<ChatEvent, void>>((resolve) => (giveUp = resolve)) : result;
      },
      return: async () => ({done: true as const, value: undefined}),
    } as unknown as AsyncGenerator<ChatEvent, void, undefined>;
    const outputs = readOutputs(firstOnly);
    expect((await outputs.next()).value).toMatchObject({text: 'a'});
    giveUp({done: true, value: undefined});
  });

  it('hands errors on after what came before them', async () => {
    const seen: string[] = [];
    const run = async () => {
      for await (const output of readOutputs(play([text(0, 'a'), text(0, 'b'), new Error('broken')]))) {
        seen.push(describeOutput(output));
      }
    };
    await expect(run()).rejects.toThrow('broken');
    expect(seen).toEqual(['0:a', '0:b']);
  });

  it('closes the events when the reader leaves', async () => {
    let left = false;
    const events = play([text(0, 'a'), text(0, 'b'), text(0, 'c')], () => {
      left = true;
    });
    for await (const _output of readOutputs(events)) break;
    expect(left).toBe(true);
  });
});
