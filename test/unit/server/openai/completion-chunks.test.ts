import {describe, expect, it} from 'vitest';
import {GenerationError} from '../../../../src/core/errors.ts';
import type {DecodedLogprobs} from '../../../../src/core/sampling/token-logprobs.ts';
import {writeJson} from '../../../../src/core/util/write-json.ts';
import type {ChatOutput} from '../../../../src/server/openai/chat-outputs.ts';
import {CompletionChunks} from '../../../../src/server/openai/completion-chunks.ts';
import type {CompletionContext, CompletionPromptFacts} from '../../../../src/server/openai/completion-context.ts';
import {WholeCompletion} from '../../../../src/server/openai/completion-response.ts';
import type {StreamOptions} from '../../../../src/server/openai/stream-options.ts';

const prompt: CompletionPromptFacts = {
  text: 'Once upon',
  tokenIds: [10, 11],
  tokenText: (tokenId) => (tokenId === 10 ? 'Once' : ' upon'),
  logprobs: () => null,
};
const answer: CompletionContext = {
  id: 'cmpl-1',
  created: 100,
  model: 'tiny',
  systemFingerprint: 'vllm-1-abc',
  promptOf: () => prompt,
  numChoices: 1,
  echo: 'none',
  logprobs: null,
  hasPromptLogprobs: false,
  returnTokenIds: false,
  returnWeightVersions: false,
  metrics: () => null,
};
const options: StreamOptions = {
  interval: 1,
  usage: {atEnd: false, inEachChunk: false, withPromptDetails: true},
};
const usageAtEnd: StreamOptions = {...options, usage: {...options.usage, atEnd: true, inEachChunk: true}};
const head = '"id":"cmpl-1","object":"text_completion","created":100,"model":"tiny"';
const twoBest = {maxCandidates: 2, asTokenIds: false};

const entry = (tokenId: number, text: string, logprob = -1) => ({tokenId, logprob, rank: 1, text});

interface OutputOptions {
  choice?: number;
  numTokens?: number;
  logprobs?: DecodedLogprobs[];
}

/** With `numTokens` the output is the last of its choice. */
function output(text: string, tokenIds: number[], {choice = 0, numTokens, logprobs}: OutputOptions = {}): ChatOutput {
  const finish = numTokens === undefined ? null : {finishReason: 'length' as const, stopReason: null, numTokens};
  return {choice, text, tokenIds, logprobs: logprobs ?? null, reading: null, finish};
}

const choicesOf = (chunks: string[]) => chunks.flatMap((chunk) => JSON.parse(chunk).choices as {text: string}[]);

describe('chunks of a completion stream', () => {
  it('are exactly these', () => {
    const chunks = new CompletionChunks(answer, options);
    expect(chunks.push(output(' a', [5]))).toEqual([
      `{${head},"choices":[{"index":0,"text":" a","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null,"weight_versions":null}]}`,
    ]);
    expect(chunks.push(output(' time', [6], {numTokens: 2}))).toEqual([
      `{${head},"choices":[{"index":0,"text":" time","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null,"weight_versions":null}],"system_fingerprint":"vllm-1-abc"}`,
    ]);
    expect(chunks.end({promptTokens: 2, cachedTokens: 0})).toEqual([]);
  });

  it('count tokens without details of the completion', () => {
    const chunks = new CompletionChunks(answer, usageAtEnd);
    const [only] = chunks.push(output(' a', [5], {numTokens: 1}));
    expect(only).toMatch(/"usage":\{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1\}\}$/);
    expect(chunks.end({promptTokens: 2, cachedTokens: 1})).toEqual([
      `{${head},"choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":1}},"system_fingerprint":"vllm-1-abc"}`,
    ]);
  });

  it('begin with the prompt when it is echoed', () => {
    const chunks = new CompletionChunks({...answer, echo: 'prompt'}, options);
    const seen = [...chunks.push(output(' a', [5])), ...chunks.push(output('!', [6]))];
    expect(choicesOf(seen)).toMatchObject([
      {text: 'Once upon a', prompt_token_ids: [10, 11]},
      {text: '!', prompt_token_ids: null},
    ]);
  });

  it('show ids in place of the echoed text', () => {
    const chunks = new CompletionChunks({...answer, echo: 'prompt', returnTokenIds: true}, options);
    expect(choicesOf(chunks.push(output(' a', [5])))).toMatchObject([
      {text: ' a', prompt_token_ids: [10, 11], token_ids: [5]},
    ]);
  });

  it('wait for the logprobs of an echoed prompt', () => {
    let logprobs: (DecodedLogprobs | null)[] | null = null;
    const context = {
      ...answer,
      numChoices: 2,
      echo: 'prompt' as const,
      logprobs: twoBest,
      promptOf: () => ({...prompt, logprobs: () => logprobs}),
    };
    const chunks = new CompletionChunks(context, options);
    expect(chunks.push(output(' a', [5], {choice: 1, logprobs: [[entry(5, ' a')]]}))).toEqual([]);
    logprobs = [null, [entry(11, ' upon', -3), entry(12, '7', -0.5), entry(13, 'x', -4)]];
    const seen = chunks.push(output(' b', [6], {choice: 0, logprobs: [[entry(6, ' b')]]}));
    expect(seen).toEqual([
      expect.stringContaining(
        '"index":1,"text":"Once upon a","logprobs":{"text_offset":[0,4,9],"token_logprobs":[null,-3,-1],"tokens":["Once"," upon"," a"],"top_logprobs":[null,{" upon":-3,"7":-0.5},{" a":-1}]}',
      ),
      expect.stringContaining('"index":0,"text":"Once upon b"'),
    ]);
    const next = chunks.push(output('!', [7], {choice: 1, logprobs: [[entry(7, '!')]]}));
    expect(next.join('')).toContain('"text_offset":[11]');
  });

  it('hold nothing but the prompt when no output is wanted', () => {
    const chunks = new CompletionChunks({...answer, echo: 'prompt-only'}, options);
    expect(choicesOf(chunks.push(output(' a', [5], {numTokens: 1})))).toMatchObject([
      {text: 'Once upon', finish_reason: 'length'},
    ]);
  });

  it('end open choices when the answer is given up', () => {
    const chunks = new CompletionChunks({...answer, numChoices: 2}, options);
    chunks.push(output(' a', [5], {choice: 1}));
    expect(choicesOf(chunks.abort())).toMatchObject([
      {index: 0, text: '', finish_reason: 'abort'},
      {index: 1, text: '', finish_reason: 'abort'},
    ]);
    expect(chunks.abort()).toEqual([]);
  });

  it('report errors with spaces and in ASCII', () => {
    const chunks = new CompletionChunks(answer, options);
    const retry = new GenerationError('später', {retryable: true});
    expect(chunks.errorEvent(retry)).toBe(
      '{"error": {"message": "sp\\u00e4ter", "type": "ServiceUnavailableError", "param": null, "code": 503}}',
    );
  });
});

describe('whole completion', () => {
  it('has every key in order', () => {
    const whole = new WholeCompletion(answer, {withPromptDetails: true});
    whole.push(output(' a', [5]));
    whole.push(output('', [2], {numTokens: 2}));
    expect(writeJson(whole.toResponse({promptTokens: 2, cachedTokens: 1}))).toBe(
      `{${head},"choices":[{"index":0,"text":" a","logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null,"weight_versions":null}],` +
        '"service_tier":null,"system_fingerprint":"vllm-1-abc","usage":{"prompt_tokens":2,"total_tokens":4,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1,"created_cache_tokens":null,"multimodal_tokens":null},"completion_tokens_details":null},"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
  });

  it('counts offsets by what is shown of the tokens', () => {
    const whole = new WholeCompletion({...answer, logprobs: {maxCandidates: 1, asTokenIds: true}}, options.usage);
    whole.push(output('😀a', [5, 6], {numTokens: 2, logprobs: [[entry(5, '😀')], [entry(6, 'a', -Infinity)]]}));
    expect(writeJson(whole.toResponse({promptTokens: 2, cachedTokens: 0}).choices)).toContain(
      '"logprobs":{"text_offset":[0,10],"token_logprobs":[-1,-9999],"tokens":["token_id:5","token_id:6"],"top_logprobs":[{"token_id:5":-1},{"token_id:6":-9999}]}',
    );
  });

  it('says the same as the stream', () => {
    const context = {...answer, echo: 'prompt' as const, returnWeightVersions: true};
    const outputs = [output(' a', [5]), output(' b', [6]), output('', [2], {numTokens: 3})];
    const whole = new WholeCompletion(context, options.usage);
    for (const each of outputs) whole.push(each);
    const chunks = new CompletionChunks(context, options);
    const choices = choicesOf(outputs.flatMap((each) => chunks.push(each)));
    const [choice] = whole.toResponse({promptTokens: 2, cachedTokens: 0}).choices;
    expect(choices.map(({text}) => text).join('')).toBe(choice?.text);
    expect(choices.at(-1)).toMatchObject({weight_versions: choice?.weight_versions});
    expect(choice?.weight_versions).toEqual([{version: 'default', start: 0, end: 3}]);
  });
});
