import {describe, expect, it} from 'vitest';
import type {TokenLogprobs} from '../../../../src/core/sampling/token-logprobs.ts';
import {embeddedTokenizer} from '../../../support/embedded-model.ts';
import {playTokens, type ScriptedOutput} from '../../../support/scripted-engine-client.ts';
import {sseEvents} from '../../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();

const tokenizer = await embeddedTokenizer();
const answerIds = [...(await tokenizer.encode('One 😀, three.', {addSpecialTokens: false})), 2];

const entries = (tokenId: number): TokenLogprobs => [
  {tokenId, logprob: -2, rank: 4},
  {tokenId: 5, logprob: -0.5, rank: 1},
  {tokenId: 6, logprob: Number.NEGATIVE_INFINITY, rank: 2},
];

/** An answer with logprobs, cut into outputs of the given sizes. */
function answer(sizes: number[]): ScriptedOutput[] {
  const rest = [...answerIds];
  const pieces = sizes.map((size) => rest.splice(0, size));
  if (rest.length > 0) pieces.push(rest);
  return pieces.map((newTokenIds, index) => ({
    newTokenIds,
    logprobs: newTokenIds.map(entries),
    ...(index === pieces.length - 1 ? {finishReason: 'stop' as const} : {}),
  }));
}

interface Logprobs {
  content: {token: string; logprob: number; bytes: number[]; top_logprobs: {token: string; bytes: number[]}[]}[];
}

describe('logprobs', () => {
  it.each([
    [[1, 1, 1, 1, 1, 1, 1], {}],
    [[3, 2], {}],
    [[1, 1, 1, 1, 1, 1, 1], {stop: [' three']}],
    [[2, 5], {stop: [' three'], stream_interval: 3}],
  ])('are the same in whole and in pieces %j %j', async (sizes, fields) => {
    const {chat} = await openTestApp({script: () => answer(sizes)});
    const wanted = {logprobs: true, top_logprobs: 2, return_token_ids: true, ...fields};
    const {body} = await chat(wanted);
    const [choice] = body.choices as unknown as {logprobs: Logprobs; token_ids: number[]}[];
    expect(choice!.logprobs.content).toHaveLength(choice!.token_ids.length);
    expect(choice!.logprobs.content.every(({top_logprobs}) => top_logprobs.length === 2)).toBe(true);
    const chunks = sseEvents((await chat({...wanted, stream: true})).text).flatMap(({choices}) => choices);
    const streamed = chunks.map((chunk) => ({...chunk, logprobs: chunk.logprobs as unknown as Logprobs | null}));
    expect(streamed.flatMap(({logprobs}) => logprobs?.content ?? [])).toEqual(choice!.logprobs.content);
    for (const {logprobs, token_ids, delta} of streamed) {
      if (delta.role !== undefined) expect(logprobs).toBeNull();
      else expect(logprobs!.content).toHaveLength(token_ids!.length);
    }
  });

  it('show ids in place of texts, by flag or by request', async () => {
    const tokensOf = async (fields: object, returnTokensAsTokenIds: boolean) => {
      const {chat} = await openTestApp({script: () => answer([])}, {returnTokensAsTokenIds});
      const {body} = await chat({logprobs: true, ...fields});
      return (body.choices as unknown as {logprobs: Logprobs}[])[0]!.logprobs.content.map(({token}) => token);
    };
    const ids = answerIds.map((id) => `token_id:${id}`);
    expect(await tokensOf({}, true)).toEqual(ids);
    expect(await tokensOf({return_tokens_as_token_ids: true}, false)).toEqual(ids);
    expect((await tokensOf({return_tokens_as_token_ids: false}, true)).join('')).toBe('One 😀, three.<|im_end|>');
  });

  it('list every candidate that was asked for by id', async () => {
    const {chat, engine} = await openTestApp({script: () => answer([])});
    const {body} = await chat({logprobs: true, logprob_token_ids: [5, 6]});
    expect(engine.requests[0]!.sampling).toMatchObject({logprobs: 0, logprobTokenIds: [5, 6], promptLogprobs: null});
    const [choice] = body.choices as unknown as {logprobs: Logprobs}[];
    expect(choice!.logprobs.content[0]!.top_logprobs).toHaveLength(3);
  });

  it.each([
    [
      {logprobs: true, top_logprobs: 21},
      'logprobs',
      'Requested sample logprobs of 21, which is greater than max allowed: 20',
    ],
    [
      {logprobs: true, top_logprobs: -1},
      'logprobs',
      'Requested sample logprobs of 49152, which is greater than max allowed: 20',
    ],
    [
      {prompt_logprobs: 21},
      'prompt_logprobs',
      'Requested prompt logprobs of 21, which is greater than max allowed: 20',
    ],
  ])('%j is more than allowed', async (fields, param, message) => {
    const {chat} = await openTestApp();
    const {status, body} = await chat(fields);
    const value = /\d+/.exec(message)?.[0];
    expect(status).toBe(400);
    expect(body.error).toMatchObject({param, message: `${message} (parameter=${param}, value=${value})`});
  });
});

describe('prompt logprobs', () => {
  const promptLogprobs = [null, entries(7)];
  const script = () => playTokens([9], {finishReason: 'length', promptLogprobs});

  it('stand at the top, the token itself first', async () => {
    const {chat} = await openTestApp({script});
    const {text} = await chat({prompt_logprobs: 2});
    const entry = (id: number, logprob: number, rank: number) =>
      `"${id}":{"logprob":${logprob},"rank":${rank},"decoded_token":${JSON.stringify(tokenizer.idToToken(id))}}`;
    expect(text).toContain(`"prompt_logprobs":[null,{${entry(7, -2, 4)},${entry(5, -0.5, 1)},${entry(6, -9999, 2)}}]`);
  });

  it('are asked of one choice only, and of none in a stream', async () => {
    const {chat, engine} = await openTestApp({script});
    await chat({prompt_logprobs: 2, n: 2, temperature: 1});
    await chat({prompt_logprobs: 0, stream: true});
    expect(engine.requests.map(({sampling}) => sampling.promptLogprobs)).toEqual([2, null, null]);
  });
});

describe('echo', () => {
  const conversation = [
    {role: 'user', content: 'Count.'},
    {
      role: 'assistant',
      content: [
        {type: 'text', text: 'One,'},
        {type: 'text', text: 'two,'},
      ],
    },
  ];

  it('puts the last message before the answer and asks for prompt logprobs', async () => {
    const {chat, engine} = await openTestApp({answer: ' three.'});
    const {body} = await chat({echo: true, messages: conversation});
    expect(body).toMatchObject({choices: [{message: {content: 'One,\ntwo, three.'}}]});
    expect(engine.requests[0]!.sampling.promptLogprobs).toBe(0);
  });

  it('is silent when the last message has another role', async () => {
    const {chat, engine} = await openTestApp({answer: 'Hi.'});
    expect((await chat({echo: true})).body).toMatchObject({choices: [{message: {content: 'Hi.'}}]});
    expect(engine.requests[0]!.sampling.promptLogprobs).toBe(0);
  });

  it('comes in a chunk of its own', async () => {
    const {chat, engine} = await openTestApp({answer: ' three.'});
    const {text} = await chat({echo: true, messages: conversation, stream: true});
    expect(sseEvents(text).map(({choices}) => choices[0]!.delta.content)).toEqual([
      '',
      'One,\ntwo,',
      ' three',
      '.',
      '',
    ]);
    expect(engine.requests[0]!.sampling.promptLogprobs).toBeNull();
  });
});

describe('repetition', () => {
  it('has its own finish and stop reason', async () => {
    const script = () => playTokens([9, 9], {finishReason: 'repetition'});
    const {chat, engine} = await openTestApp({script});
    const {body} = await chat({repetition_detection: {max_pattern_size: 1, min_count: 2}});
    expect(body).toMatchObject({choices: [{finish_reason: 'repetition', stop_reason: 'repetition_detected'}]});
    expect(engine.requests[0]!.sampling.repetitionDetection).toEqual({
      minPatternSize: 1,
      maxPatternSize: 1,
      minCount: 2,
    });
  });
});

describe('metrics', () => {
  const script = () => [
    {newTokenIds: [9], tokenTimesMs: [130], start: {queuedMs: 100, scheduledMs: 110}},
    {newTokenIds: [9, 9], tokenTimesMs: [150, 170], finishReason: 'length' as const},
  ];
  const expected = {time_to_first_token_ms: 20, generation_time_ms: 40, queue_time_ms: 10, mean_itl_ms: 20};

  it('are reported with the flag, for one choice', async () => {
    const {chat} = await openTestApp({script}, {enablePerRequestMetrics: true});
    expect((await chat({})).body).toMatchObject({metrics: expected});
    expect((await chat({n: 2, temperature: 1})).body).toMatchObject({metrics: null});
    const stream = await chat({stream: true, stream_options: {include_usage: true}});
    expect(sseEvents<{metrics?: object}>(stream.text).at(-1)!.metrics).toMatchObject(expected);
  });

  it('are null without it', async () => {
    const {chat} = await openTestApp({script});
    expect((await chat({})).body).toMatchObject({metrics: null});
  });
});
