import {describe, expect, it} from 'vitest';
import type {ChatEvent} from '../../../../src/core/parsers/events.ts';
import {type ChatOutput, OutputJoiner} from '../../../../src/server/openai/chat-outputs.ts';

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

function collect(events: ChatEvent[]): string[] {
  const joiner = new OutputJoiner();
  const outputs = events.flatMap((event) => joiner.push(event) ?? []);
  return [...outputs, ...joiner.rest()].map(describeOutput);
}

const describeOutput = ({choice, text: content, finish: end}: ChatOutput) => `${choice}:${content}${end ? '.' : ''}`;

const lastText = (choice: number, content: string): ChatEvent =>
  ({...text(choice, content), isLast: true}) as ChatEvent;

describe('OutputJoiner', () => {
  it('joins the last text of a choice with its end', () => {
    expect(collect([text(0, 'a'), lastText(0, 'b'), finish(0)])).toEqual(['0:a', '0:b.']);
  });

  it('keeps choices apart', () => {
    const events = [lastText(0, 'a'), text(1, 'x'), finish(0), lastText(1, 'y'), finish(1)];
    expect(collect(events)).toEqual(['1:x', '0:a.', '1:y.']);
  });

  it('gives an end without text out by itself', () => {
    expect(collect([text(0, 'a'), finish(0)])).toEqual(['0:a', '0:.']);
  });

  it('keeps the last text until it is asked for when there is no end', () => {
    expect(collect([lastText(0, 'a')])).toEqual(['0:a']);
  });
});
