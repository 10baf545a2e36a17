import {describe, expect, it} from 'vitest';
import {writeJson} from '../../../../src/core/util/write-json.ts';
import type {AnswerContext} from '../../../../src/server/openai/answer-context.ts';
import {ChatChunks} from '../../../../src/server/openai/chat-chunks.ts';
import type {ChatOutput} from '../../../../src/server/openai/chat-outputs.ts';
import {WholeAnswer} from '../../../../src/server/openai/chat-response.ts';
import type {StreamOptions} from '../../../../src/server/openai/stream-options.ts';

const answer: AnswerContext = {
  id: 'chatcmpl-1',
  created: 100,
  model: 'tiny',
  role: 'assistant',
  systemFingerprint: 'vllm-1-abc',
  promptTokenIds: [1, 2, 3],
  promptText: 'prompt',
  returnTokenIds: false,
  returnPromptText: false,
  returnWeightVersions: false,
  echo: '',
  logprobs: null,
  reading: null,
  end: () => ({promptLogprobs: null, metrics: null}),
};
const noUsage: StreamOptions = {
  interval: 1,
  usage: {atEnd: false, inEachChunk: false, withPromptDetails: false},
};
const head = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":100,"model":"tiny"';

function output(
  text: string,
  tokenIds: number[],
  end: Partial<NonNullable<ChatOutput['finish']>> | null = null,
  choice = 0,
  logprobs: ChatOutput['logprobs'] = null,
): ChatOutput {
  const finish = end && {finishReason: 'stop' as const, stopReason: null, numTokens: 0, ...end};
  return {choice, text, tokenIds, logprobs, reading: null, finish};
}

const read = (chunks: string[]) => chunks.map((chunk) => JSON.parse(chunk));

describe('chunks of a stream', () => {
  it('are exactly these', () => {
    const chunks = new ChatChunks(answer, 1, noUsage);
    expect(chunks.push(output('He', [5]))).toEqual([
      `{${head},"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}`,
      `{${head},"choices":[{"index":0,"delta":{"content":"He"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
    ]);
    expect(chunks.push(output('', [2], {numTokens: 2, stopReason: 'x'}))).toEqual([
      `{${head},"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":"x","token_ids":null,"weight_versions":null}],"system_fingerprint":"vllm-1-abc"}`,
    ]);
    expect(chunks.end({promptTokens: 3, cachedTokens: 0})).toEqual([]);
  });

  it('carry usage at the end, where the fingerprint moves', () => {
    const chunks = new ChatChunks(answer, 1, {...noUsage, usage: {...noUsage.usage, atEnd: true}});
    const [, last] = read(chunks.push(output('He', [5], {finishReason: 'length', numTokens: 1})));
    expect(last).not.toHaveProperty('system_fingerprint');
    expect(chunks.end({promptTokens: 3, cachedTokens: 0})).toEqual([
      `{${head},"choices":[],"usage":{"prompt_tokens":3,"total_tokens":4,"completion_tokens":1},"system_fingerprint":"vllm-1-abc"}`,
    ]);
  });

  it('carry usage of their choice when asked for in each', () => {
    const usage = {atEnd: true, inEachChunk: true, withPromptDetails: true};
    const chunks = new ChatChunks(answer, 2, {interval: 1, usage});
    const counts = (completion: number) => ({
      prompt_tokens: 3,
      total_tokens: 3 + completion,
      completion_tokens: completion,
      completion_tokens_details: null,
    });
    const seen = [...chunks.push(output('a', [1], null, 1)), ...chunks.push(output('b', [1, 2], {numTokens: 3}, 1))];
    expect(read(seen).map((chunk) => chunk.usage)).toEqual([counts(0), counts(0), counts(1), counts(3)]);
    chunks.push(output('c', [1], {numTokens: 1}, 0));
    expect(read(chunks.end({promptTokens: 3, cachedTokens: 2}))[0].usage).toEqual({
      prompt_tokens: 3,
      total_tokens: 7,
      completion_tokens: 4,
      prompt_tokens_details: {cached_tokens: 2, created_cache_tokens: 1},
    });
  });

  it('fill what the request wants to see', () => {
    const wanted = {...answer, returnTokenIds: true, returnPromptText: true, returnWeightVersions: true};
    const [first, last] = read(new ChatChunks(wanted, 1, noUsage).push(output('a', [7, 8], {numTokens: 2})));
    expect(first).toMatchObject({prompt_token_ids: [1, 2, 3], prompt_text: 'prompt'});
    expect(last).toMatchObject({
      choices: [{token_ids: [7, 8], weight_versions: [{version: 'default', start: 0, end: 2}]}],
    });
  });

  it('gather tokens up to the interval, but for the first and the last', () => {
    const chunks = new ChatChunks(answer, 1, {...noUsage, interval: 3});
    const numChunks = ['a', 'b', 'c', 'd', 'e'].map((text) => chunks.push(output(text, [1])).length);
    expect(numChunks).toEqual([2, 0, 0, 1, 0]);
    const [last] = chunks.push(output('f', [1], {numTokens: 6}));
    expect(last).toContain('"delta":{"content":"ef"}');
  });

  it('end with abort, with what was held and counted', () => {
    const chunks = new ChatChunks(answer, 2, {...noUsage, interval: 2});
    chunks.push(output('a', [1], null, 0));
    chunks.push(output('b', [1], null, 0));
    const [first, second] = chunks.abort();
    expect(first).toContain('"delta":{"content":"b"},"logprobs":null,"finish_reason":"abort"');
    expect(second).toContain('"index":1,"delta":{},"logprobs":null,"finish_reason":"abort"');
    expect(chunks.abort()).toEqual([]);
  });

  it('open all choices when a request is aborted before its first token', () => {
    const seen = read(new ChatChunks(answer, 1, noUsage).abort());
    expect(seen).toHaveLength(2);
    expect(seen[1]).toMatchObject({choices: [{delta: {}, finish_reason: 'abort'}]});
  });

  it('carry the logprobs of their own tokens', () => {
    const logprobs = {maxCandidates: 0, asTokenIds: false};
    const chunks = new ChatChunks({...answer, logprobs}, 1, {...noUsage, interval: 2});
    const entry = (text: string) => [{tokenId: 5, logprob: -1, rank: 1, text}];
    const seen = ['a', 'b', 'c'].flatMap((text) => chunks.push(output(text, [5], null, 0, [entry(text)])));
    seen.push(...chunks.push(output('', [], {numTokens: 3})));
    const shown = ['a', 'b', 'c'].map((token) => ({
      token,
      logprob: -1,
      bytes: [...Buffer.from(token)],
      top_logprobs: [],
    }));
    expect(
      read(seen)
        .flatMap(({choices}) => choices)
        .map((choice) => (choice as {logprobs: unknown}).logprobs),
    ).toEqual([null, {content: [shown[0]]}, {content: [shown[1], shown[2]]}, {content: []}]);
  });

  it('begin with the echo behind the role of every choice', () => {
    const usage = {...noUsage.usage, atEnd: true, inEachChunk: true};
    const chunks = new ChatChunks({...answer, echo: 'One,'}, 2, {...noUsage, usage});
    const seen = chunks.push(output(' two', [5])).map((chunk) => chunk.slice(head.length + 2));
    expect(seen.slice(2, 4)).toEqual(
      [0, 1].map(
        (index) =>
          `"choices":[{"index":${index},"delta":{"content":"One,"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":3,"total_tokens":3,"completion_tokens":0,"completion_tokens_details":null}}`,
      ),
    );
    expect(seen).toHaveLength(5);
  });

  it('say at the end where the time went', () => {
    const metrics = {time_to_first_token_ms: 5};
    const context = {...answer, end: () => ({promptLogprobs: null, metrics})};
    const chunks = new ChatChunks(context, 1, {...noUsage, usage: {...noUsage.usage, atEnd: true}});
    expect(Object.entries(read(chunks.end({promptTokens: 3, cachedTokens: 0}))[0]).at(-1)).toEqual([
      'metrics',
      metrics,
    ]);
  });

  it('leave an empty fingerprint out', () => {
    const chunks = new ChatChunks({...answer, systemFingerprint: null}, 1, noUsage);
    expect(chunks.push(output('a', [1], {numTokens: 1}))[1]).not.toContain('system_fingerprint');
  });
});

describe('whole answer', () => {
  it('has every key in order', () => {
    const whole = new WholeAnswer(answer, 1, {withPromptDetails: true});
    whole.push(output('He', [5]));
    whole.push(output('y', [2], {numTokens: 2}));
    expect(JSON.stringify(whole.toResponse({promptTokens: 3, cachedTokens: 1}))).toBe(
      '{"id":"chatcmpl-1","object":"chat.completion","created":100,"model":"tiny",' +
        '"choices":[{"index":0,"message":{"role":"assistant","content":"Hey","refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":null},' +
        '"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,"routed_experts":null,"weight_versions":null}],' +
        '"service_tier":null,"system_fingerprint":"vllm-1-abc",' +
        '"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1,"created_cache_tokens":2,"multimodal_tokens":null},"completion_tokens_details":null},' +
        '"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
  });

  it('has what was asked for besides the text', () => {
    const entry = (tokenId: number, text: string) => ({tokenId, logprob: Number.NEGATIVE_INFINITY, rank: 3, text});
    const context: AnswerContext = {
      ...answer,
      echo: 'Oh! ',
      logprobs: {maxCandidates: 1, asTokenIds: true},
      end: () => ({promptLogprobs: [null, [entry(300, 'He'), entry(7, 'x')]], metrics: {queue_time_ms: 0}}),
    };
    const whole = new WholeAnswer(context, 1, {withPromptDetails: false});
    whole.push(output('He', [300], null, 0, [[entry(300, 'He'), entry(7, 'x')]]));
    whole.push(output('', [2], {numTokens: 2}, 0, [[entry(2, '<end>')]]));
    const counts = {promptTokens: 3, cachedTokens: 1};
    const text = writeJson(whole.toResponse(counts));
    expect(text).toContain('"content":"Oh! He"');
    const shown = (id: number, bytes: string) =>
      `{"token":"token_id:${id}","logprob":-9999,"bytes":[${[...Buffer.from(bytes)]}]`;
    const both = (id: number, text: string) => `${shown(id, text)},"top_logprobs":[${shown(id, `token_id:${id}`)}}]}`;
    expect(text).toContain(`"logprobs":{"content":[${both(300, 'He')},${both(2, '<end>')}]}`);
    const promptEntry = (id: number, token: string) => `"${id}":{"logprob":-9999,"rank":3,"decoded_token":"${token}"}`;
    expect(text).toContain(`"prompt_logprobs":[null,{${promptEntry(300, 'He')},${promptEntry(7, 'x')}}]`);
    expect(text).toContain('"metrics":{"queue_time_ms":0}');
  });

  it('ends open choices with abort', () => {
    const whole = new WholeAnswer({...answer, returnTokenIds: true}, 2, {withPromptDetails: false});
    whole.push(output('a', [1], {numTokens: 1}));
    whole.abort();
    const {choices, usage} = whole.toResponse({promptTokens: 3, cachedTokens: 0});
    expect(choices.map(({finish_reason, token_ids}) => [finish_reason, token_ids])).toEqual([
      ['stop', [1]],
      ['abort', []],
    ]);
    expect(usage.completion_tokens).toBe(1);
  });
});
