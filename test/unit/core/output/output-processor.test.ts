import {describe, expect, it} from 'vitest';
import type {SequenceOutput} from '../../../../src/core/engine/protocol.ts';
import {OutputProcessor} from '../../../../src/core/output/output-processor.ts';
import type {TextParams} from '../../../../src/core/sampling/sampling-params.ts';
import {embeddedTokenizer} from '../../../support/embedded-model.ts';

const endToken = 2;

const plainText: TextParams = {
  stop: [],
  includeStopStrInOutput: false,
  skipSpecialTokens: true,
  spacesBetweenSpecialTokens: true,
  minTokens: 0,
};

const running: SequenceOutput = {
  requestId: 'r',
  newTokenIds: [],
  finishReason: null,
  stopReason: null,
  numCachedTokens: null,
  logprobs: null,
  promptLogprobs: null,
  tokenTimesMs: [],
  start: null,
  numPreemptions: 0,
  error: null,
};

async function createProcessor(text: Partial<TextParams> = {}) {
  return new OutputProcessor({
    tokenizer: await embeddedTokenizer(),
    promptTokenIds: [1],
    text: {...plainText, ...text},
  });
}

async function encode(text: string): Promise<number[]> {
  return (await embeddedTokenizer()).encode(text, {addSpecialTokens: false});
}

/** Feeds the tokens one by one; the last output carries `end`. */
async function play(text: string, params: Partial<TextParams>, end: Partial<SequenceOutput>, endIds: number[] = []) {
  const processor = await createProcessor(params);
  const ids = [...(await encode(text)), ...endIds];
  const deltas = ids.map((id, index) =>
    processor.process({...running, newTokenIds: [id], ...(index === ids.length - 1 ? end : {})}),
  );
  const shown = deltas.filter((delta) => delta !== null);
  return {deltas: shown, last: shown.at(-1)!, text: shown.map((delta) => delta.text).join(''), processor};
}

describe('how an output ends', () => {
  const stopped = {finishReason: 'stop'} as const;

  it('gives the end token no text', async () => {
    const {text, last, processor} = await play('Paris.', {}, stopped, [endToken]);
    expect(text).toBe('Paris.');
    expect(last).toEqual({text: '', tokenIds: [endToken], logprobs: null, finishReason: 'stop', stopReason: null});
    expect(processor.numTokens).toBe(3);
  });

  it('hides the end token also when special tokens are shown', async () => {
    const {text} = await play('Paris.', {skipSpecialTokens: false}, stopped, [endToken]);
    expect(text).toBe('Paris.');
  });

  it('shows the end token when it is a special one, shown, and kept', async () => {
    const kept = {skipSpecialTokens: false, includeStopStrInOutput: true};
    expect((await play('Paris.', kept, stopped, [endToken])).text).toBe('Paris.<|im_end|>');
    expect((await play('Paris.', {includeStopStrInOutput: true}, stopped, [endToken])).text).toBe('Paris.');
  });

  it('gives a stop token no text unless it is kept', async () => {
    const [id] = await encode(' three');
    const end = {finishReason: 'stop', stopReason: id!} as const;
    const hidden = await play('one two', {}, end, [id!]);
    expect(hidden.text).toBe('one two');
    expect(hidden.last.stopReason).toBe(id);
    expect((await play('one two', {includeStopStrInOutput: true}, end, [id!])).text).toBe('one two three');
  });

  it('turns length into stop when a stop string is complete', async () => {
    const {text, last} = await play('one', {stop: ['one']}, {finishReason: 'length'});
    expect(text).toBe('');
    expect(last).toMatchObject({finishReason: 'stop', stopReason: 'one'});
  });

  it('gives out what was held back when the output ends without the stop string', async () => {
    const {text, last} = await play('one two thr', {stop: ['three']}, {finishReason: 'length'});
    expect(text).toBe('one two thr');
    expect(last).toMatchObject({finishReason: 'length', stopReason: null});
  });

  it('gives out held text on an abort too', async () => {
    const {text, last} = await play('one thr', {stop: ['three']}, {finishReason: 'abort'});
    expect([text, last.finishReason]).toEqual(['one thr', 'abort']);
  });

  it('never gives out bytes that are not a character', async () => {
    const ids = (await encode('🌍')).slice(0, -1);
    const processor = await createProcessor();
    expect(processor.process({...running, newTokenIds: ids, finishReason: 'length'})!.text).toBe('');
  });
});

describe('stop strings', () => {
  it('ends in the middle of a token', async () => {
    const {text, last} = await play('Hello', {stop: ['el']}, {});
    expect(text).toBe('H');
    expect(last).toMatchObject({finishReason: 'stop', stopReason: 'el', tokenIds: await encode('Hello')});
  });

  it('keeps the stop string on request, and nothing behind it', async () => {
    expect((await play('Hello', {stop: ['el'], includeStopStrInOutput: true}, {})).text).toBe('Hel');
  });

  it('takes the one whose end comes first, then the first in the list', async () => {
    const params = {stop: ['four', 'two']};
    expect((await play('one two three four', params, {})).last.stopReason).toBe('two');
    expect((await play('abcd', {stop: ['bc', 'abc', 'c']}, {})).last.stopReason).toBe('bc');
    expect((await play('abcd', {stop: ['abc', 'bc']}, {})).text).toBe('');
  });

  it('shows nothing of a stop string while it is being written', async () => {
    const {deltas, text} = await play('a b c ijklmnop tail', {stop: ['klmnop']}, {});
    expect(text).toBe('a b c ij');
    let seen = '';
    for (const delta of deltas) {
      seen += delta.text;
      expect('a b c ij'.startsWith(seen)).toBe(true);
    }
  });

  it('gives held text out as soon as it cannot be a stop string any more', async () => {
    const {deltas} = await play('one thrill more', {stop: ['three']}, {});
    expect(deltas.map((delta) => delta.text).join('')).toBe('one thrill more');
    expect(deltas.at(-1)!.text).toBe(' more');
  });

  it('does not look at the first min_tokens tokens', async () => {
    const ids = await encode('one two two');
    expect(ids).toHaveLength(3);
    expect((await play('one two two', {stop: ['two'], minTokens: 2}, {})).text).toBe('one two ');
    expect((await play('one two two', {stop: ['two'], minTokens: 3}, {finishReason: 'length'})).text).toBe(
      'one two two',
    );
  });

  it('finds a stop string that begins before min_tokens and ends after', async () => {
    const {text, last} = await play('one two', {stop: ['ne t'], minTokens: 1}, {});
    expect([text, last.stopReason]).toEqual(['o', 'ne t']);
  });

  it('ignores the engine after it has ended', async () => {
    const processor = await createProcessor({stop: ['two']});
    processor.process({...running, newTokenIds: await encode('one two')});
    expect(processor.isFinished).toBe(true);
    expect(processor.process({...running, newTokenIds: [5], finishReason: 'length'})).toBeNull();
    expect(processor.numTokens).toBe(2);
  });

  it('never cuts a character for a stop string that is half of one', async () => {
    const {text} = await play('a 🌍 b', {stop: ['\ud83c']}, {finishReason: 'length'});
    expect(text).toBe('a 🌍 b');
  });
});

describe('characters of several tokens', () => {
  it('gives each out once it is complete', async () => {
    const {deltas} = await play('🌍🌎🌏🍏🍎🍐🍊🍋🍌🍉', {}, {finishReason: 'length'});
    expect(deltas.filter((delta) => delta.text !== '')).toHaveLength(10);
  });

  it('reads the first bytes together with the end of the prompt', async () => {
    const tokenizer = await embeddedTokenizer();
    const ids = await encode('🌍');
    const processor = new OutputProcessor({tokenizer, promptTokenIds: ids.slice(0, 1), text: plainText});
    expect(processor.process({...running, newTokenIds: ids.slice(1)})!.text).toBe('🌍');
  });
});
