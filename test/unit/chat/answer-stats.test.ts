import {describe, expect, it} from 'vitest';
import {AnswerClock, speedOf} from '../../../src/chat/conversation/answer-stats.ts';

describe('the speed of an answer', () => {
  it.each([
    {tokens: 2, milliseconds: 1, speed: null},
    {tokens: 3, milliseconds: 1000, speed: null},
    {tokens: 20, milliseconds: 5, speed: null},
    {tokens: 0, milliseconds: 0, speed: null},
    {tokens: 5, milliseconds: 100, speed: 40},
    {tokens: 101, milliseconds: 2000, speed: 50},
  ])('of $tokens tokens in $milliseconds ms is $speed', ({tokens, milliseconds, speed}) => {
    expect(speedOf(tokens, milliseconds)).toBe(speed);
  });

  it('is taken between the first and the last piece, with the tokens that the server counted', () => {
    let now = 0;
    const clock = new AnswerClock(() => now);
    for (const time of [500, 700, 900]) {
      now = time;
      clock.note({type: 'text-delta', text: 'a'});
    }
    clock.note({type: 'finish', finishReason: 'stop', usage: {promptTokens: 3, completionTokens: 21}});
    expect(clock.stats()).toMatchObject({timeToFirstTokenMs: 500, tokensPerSecond: 50, completionTokens: 21});
  });

  it('is not told of an answer that came at once', () => {
    const clock = new AnswerClock(() => 7);
    for (let piece = 0; piece < 3; piece++) clock.note({type: 'text-delta', text: 'a'});
    expect(clock.stats().tokensPerSecond).toBeNull();
  });
});
