/** What becomes of a sequence when its events cannot be made, or are not wanted any more. */
import {describe, expect, it} from 'vitest';
import {ChoiceEvents} from '../../../src/core/choice-events.ts';
import type {SequenceOutput} from '../../../src/core/engine/protocol.ts';
import type {ChatEvent} from '../../../src/core/parsers/events.ts';
import {AsyncQueue} from '../../../src/core/util/async-queue.ts';
import {collect, collectUntilError} from '../../support/collect.ts';

const output = {newTokenIds: [1]} as SequenceOutput;
const finish = {choice: 0, type: 'finish', finishReason: 'stop', stopReason: null, numTokens: 1} as const;

function openOutputs(): AsyncQueue<SequenceOutput> {
  const outputs = new AsyncQueue<SequenceOutput>((_older, newer) => newer);
  outputs.push(output);
  return outputs;
}

describe('ChoiceEvents', () => {
  it('leaves the sequence when an output cannot be read', async () => {
    const outputs = openOutputs();
    const read = () => {
      throw new Error('no such token');
    };
    const {error} = await collectUntilError(new ChoiceEvents(outputs, read, () => false));
    expect([(error as Error).message, outputs.isOver]).toEqual(['no such token', true]);
  });

  it('leaves the sequence with its last event', async () => {
    const outputs = openOutputs();
    const events: ChatEvent[] = [{...finish, choice: 1}, finish];
    expect(
      await collect(
        new ChoiceEvents(
          outputs,
          () => [...events],
          () => true,
        ),
      ),
    ).toEqual(events);
    expect(outputs.isOver).toBe(true);
  });
});
