/**
 * Faults that people reported of streams in other servers (cases PR-streaming-*, PR-reliability-* and PR-sampling-11,
 * public reports), on ours: an engine plays what the cases ask for.
 */
import {describe, expect, it} from 'vitest';
import {embeddedTokenizer} from '../../support/embedded-model.ts';
import {askBoth, type Chunk, foldAnswer, openPlaying, playPieces} from '../../support/reported-cases.ts';
import {playTokens} from '../../support/scripted-engine-client.ts';
import {sseBlocks, sseEvents} from '../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

const pieces = ['Hel', 'lo', ' there', '.'];
const choicesOf = (chunks: Chunk[]) => chunks.flatMap(({choices}) => choices);

describe('the form of a stream', () => {
  const open = () => openPlaying({pieces, tool: null});
  const streamOf = async (fields: object = {}) =>
    sseEvents<Chunk>((await (await open()).chat({stream: true, ...fields})).text);

  it('PR-streaming-01: the last event is usage without choices, and equals that of the whole answer', async () => {
    const app = await open();
    const chunks = sseEvents<Chunk>((await app.chat({stream: true, stream_options: {include_usage: true}})).text);
    const {usage} = chunks.at(-1)! as {usage: Record<string, number>};
    expect(chunks.at(-1)!.choices).toEqual([]);
    expect(usage.total_tokens).toBe(usage.prompt_tokens! + usage.completion_tokens!);
    const whole = (await app.chat({})).body as unknown as {usage: object};
    expect(whole.usage).toMatchObject(usage);
  });

  it('PR-streaming-02: usage counts every choice, and the prompt once', async () => {
    const app = await open();
    const usageOf = async (n: number) =>
      sseEvents<Chunk>(
        (await app.chat({n, temperature: 1, stream: true, stream_options: {include_usage: true}})).text,
      ).at(-1)!.usage as Record<string, number>;
    const [one, two] = [await usageOf(1), await usageOf(2)];
    expect(two.completion_tokens).toBe(2 * one.completion_tokens!);
    expect(two.prompt_tokens).toBe(one.prompt_tokens);
  });

  it('PR-streaming-03, -11: it opens with the role and an empty text, which never is null', async () => {
    const [first, ...rest] = choicesOf(await streamOf());
    expect(first!.delta).toEqual({role: 'assistant', content: ''});
    expect(rest.every(({delta}) => !('role' in delta) && delta.content !== null)).toBe(true);
  });

  it('PR-streaming-04: every event is one line of data and an empty line, and the end mark comes once', async () => {
    const {text} = await (await open()).chat({stream: true});
    for (const block of sseBlocks(text)) expect(block).toMatch(/^data: [^\n]+$/);
    expect(text.match(/data: \[DONE\]\n\n/g)).toHaveLength(1);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it.each(['stop', 'length'] as const)(
    'PR-streaming-05, -06, -07: the finish reason is null until it is %s',
    async (finish) => {
      const app = await openPlaying({pieces, finish, tool: null});
      const reasons = choicesOf(sseEvents<Chunk>((await app.chat({stream: true})).text)).map(
        (choice) => choice.finish_reason,
      );
      expect(reasons.at(-1)).toBe(finish);
      expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
    },
  );

  it('PR-streaming-10: all events carry one id, time and model', async () => {
    const chunks = (await streamOf({stream_options: {include_usage: true}})) as (Chunk & Record<string, unknown>)[];
    expect(new Set(chunks.map(({id, created, model}) => JSON.stringify([id, created, model]))).size).toBe(1);
  });
});

describe('the text of a stream', () => {
  it('PR-streaming-08: each sign of several tokens is sent when it is whole', async () => {
    const signs = [...'😀😁😂🤣😃😄😅😆😉😊'];
    const tokenizer = await embeddedTokenizer();
    const ids = [...(await tokenizer.encode(signs.join(''), {addSpecialTokens: false}))];
    expect(ids.length).toBeGreaterThan(signs.length);
    const {chat} = await openTestApp({script: () => playTokens([...ids, tokenizer.eosTokenId!])});
    const deltas = choicesOf(sseEvents<Chunk>((await chat({stream: true})).text)).map(({delta}) => delta.content);
    expect(deltas.filter(Boolean)).toEqual(signs);
  });

  it('PR-streaming-09: nothing of a stop string is sent', async () => {
    const app = await openPlaying({pieces: ['a b c ', 'ij', 'kl', 'mn', 'op', ' tail'], tool: null});
    const {whole, streamed} = await askBoth(app, {stop: ['klmnop']});
    expect(streamed).toEqual(whole);
    expect(whole).toMatchObject({content: 'a b c ij', finishReason: 'stop', stopReason: 'klmnop'});
  });

  it.each([
    [false, 'one '],
    [true, 'one two'],
  ])('PR-sampling-11: a stop string that is included (%s), and which one it was', async (include, content) => {
    const app = await openPlaying({pieces: ['one', ' two', ' three'], tool: null});
    const fields = {stop: ['two', 'three'], include_stop_str_in_output: include};
    const {whole, streamed} = await askBoth(app, fields);
    expect(streamed).toEqual(whole);
    expect(whole).toMatchObject({content, stopReason: 'two'});
  });
});

describe('streams that fail', () => {
  it('PR-reliability-04: an error within is one event of its own, then the end mark', async () => {
    const script = [...(await playPieces(['a', ' b', ' c'])).slice(0, 3), new Error('boom')];
    const {chat} = await openTestApp({script: () => script});
    const {text} = await chat({stream: true});
    const blocks = sseBlocks(text);
    expect(blocks.at(-1)).toBe('data: [DONE]');
    expect(Object.keys(JSON.parse(blocks.at(-2)!.slice('data: '.length)).error)).toEqual([
      'message',
      'type',
      'param',
      'code',
    ]);
    expect(foldAnswer(sseEvents<Chunk>(text).slice(0, -1)).content).toBe('a b c');
  });

  it('PR-reliability-06: two at once under one id are both answered', async () => {
    const app = await openPlaying({pieces, tool: null});
    const ask = async () =>
      foldAnswer(sseEvents<Chunk>((await app.chat({stream: true}, {'x-request-id': 'same'})).text));
    for (const answer of await Promise.all([ask(), ask()])) expect(answer.content).toBe('Hello there.');
  });
});
