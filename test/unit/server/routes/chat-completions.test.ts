import {describe, expect, it} from 'vitest';
import {EngineDeadError, GenerationError} from '../../../../src/core/errors.ts';
import {playTokens} from '../../../support/scripted-engine-client.ts';
import {sseBlocks, sseEvents, streamedText} from '../../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

const lengthEnd = {finishReason: 'length' as const};

describe('whole answers', () => {
  it('hold text, end and counts', async () => {
    const {chat} = await openTestApp({answer: 'Hello there.'});
    const {status, body} = await chat({});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [
        {index: 0, message: {role: 'assistant', content: 'Hello there.'}, finish_reason: 'stop', stop_reason: null},
      ],
      usage: {prompt_tokens: 33, total_tokens: 37, completion_tokens: 4},
    });
  });

  it('have one choice for each sequence, in order of their index', async () => {
    const {chat, engine} = await openTestApp({
      script: ({sampling}) => playTokens(sampling.seed === 5n ? [9, 9, 9] : [7], lengthEnd),
    });
    const {body} = await chat({n: 2, seed: 5, temperature: 1, return_token_ids: true});
    expect(body).toMatchObject({
      choices: [
        {index: 0, token_ids: [9, 9, 9]},
        {index: 1, token_ids: [7]},
      ],
      usage: {completion_tokens: 4},
    });
    expect(engine.requests.map(({sampling}) => sampling.seed)).toEqual([5n, 6n]);
  });

  it('say the same as the stream', async () => {
    const {chat} = await openTestApp({answer: 'One, two 😀, three.'});
    const fields = {stop: ['three'], return_token_ids: true};
    const {body} = await chat(fields);
    const chunks = sseEvents((await chat({...fields, stream: true})).text);
    const [choice] = body.choices as unknown as {
      message: {content: string};
      token_ids: number[];
      stop_reason: string;
    }[];
    expect(streamedText(chunks)).toBe(choice.message.content);
    expect(chunks.flatMap(({choices}) => choices.flatMap(({token_ids}) => token_ids ?? []))).toEqual(choice.token_ids);
    expect(chunks.at(-1)?.choices[0].stop_reason).toBe(choice.stop_reason);
  });

  it('take the role of the last message without a generation prompt', async () => {
    const {chat} = await openTestApp({}, {responseRole: 'bot'});
    expect((await chat({})).body).toMatchObject({choices: [{message: {role: 'bot'}}]});
    expect((await chat({add_generation_prompt: false})).body).toMatchObject({choices: [{message: {role: 'user'}}]});
  });

  it('report cached prompt tokens when the server does', async () => {
    const script = () => playTokens([2]).map((output) => ({...output, numCachedTokens: 32}));
    const {chat} = await openTestApp({script}, {enablePromptTokensDetails: true});
    expect((await chat({})).body).toMatchObject({
      usage: {prompt_tokens_details: {cached_tokens: 32, created_cache_tokens: 1, multimodal_tokens: null}},
    });
  });
});

describe('ids', () => {
  it.each([
    ['made up', {}, {}, /^chatcmpl-[0-9a-f]{16}$/],
    ['of the body', {request_id: 'abc'}, {}, /^chatcmpl-abc$/],
    ['of the header', {request_id: 'abc'}, {'x-request-id': 'h-1'}, /^chatcmpl-h-1$/],
  ])('%s', async (_name, fields, headers, expected) => {
    const {chat} = await openTestApp();
    expect((await chat(fields, headers)).body.id).toMatch(expected);
  });

  it('stand in the header with the option, also of errors, and in the log', async () => {
    const {app, logger} = await openTestApp({}, {enableRequestIdHeaders: true});
    const response = await app.inject({method: 'POST', url: '/v1/chat/completions', payload: '{}'});
    const id = response.headers['x-request-id'];
    expect([response.statusCode, id]).toEqual([400, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(logger.lines.filter(({fields}) => fields.requestId === id)).toHaveLength(1);
  });
});

describe('fields that reach the engine', () => {
  it.each([
    [{max_tokens: 5}, {maxTokens: 5}],
    [
      {temperature: 0.5, top_k: 3, top_p: 0.9},
      {temperature: 0.5, topK: 3, topP: 0.9},
    ],
    [{stop_token_ids: [7]}, {stopTokenIds: [7]}],
    [{logit_bias: {7: 100}}, {logitBias: [[7, 100]]}],
    [{ignore_eos: true}, {ignoreEos: true}],
  ])('%j', async (fields, sampling) => {
    const {chat, engine} = await openTestApp();
    expect((await chat(fields)).status).toBe(200);
    expect(engine.requests[0].sampling).toMatchObject(sampling);
  });

  it('takes the priority from the header when that is an integer', async () => {
    const {chat, engine} = await openTestApp();
    await chat({priority: 3}, {'x-vllm-priority': '-7'});
    await chat({priority: 3}, {'x-vllm-priority': 'high'});
    expect(engine.requests.map(({priority}) => priority)).toEqual([-7, 3]);
  });
});

describe('refusals', () => {
  const tools = [{type: 'function', function: {name: 'f'}}];
  it.each([
    [
      {model: 'nope', temperature: 5},
      404,
      'NotFoundError',
      'model',
      'The model `nope` does not exist. Valid aliases: tiny, alias.',
    ],
    [
      {model: '/models/x/y.gguf'},
      404,
      'NotFoundError',
      'model',
      'The model `<path>` does not exist. Valid aliases: tiny, alias.',
    ],
    [
      {tools},
      400,
      'BadRequestError',
      null,
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ],
    [
      {tools, tool_choice: 'required'},
      400,
      'BadRequestError',
      null,
      'tool_choice="required" requires --tool-call-parser to be set',
    ],
    [
      {tools, tool_choice: {type: 'function', function: {name: 'f'}}},
      400,
      'BadRequestError',
      null,
      'tool_choice=function "f" requires --tool-call-parser to be set',
    ],
    [
      {chat_template: '{{ x }}'},
      400,
      'BadRequestError',
      null,
      'Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.',
    ],
    [
      {chat_template_kwargs: {chat_template: ''}},
      400,
      'BadRequestError',
      null,
      'Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.',
    ],
    [
      {temperature: 5},
      400,
      'BadRequestError',
      'temperature',
      'temperature must be in [0, 2], got 5.0. (parameter=temperature, value=5.0)',
    ],
    [
      {max_tokens: 5000, temperature: 5},
      400,
      'BadRequestError',
      'max_tokens',
      'max_tokens=5000 cannot be greater than max_model_len=2048. Please request fewer output tokens. (parameter=max_tokens, value=5000)',
    ],
    [
      {stop_token_ids: [49152]},
      400,
      'BadRequestError',
      'stop_token_ids',
      'token_id(s) [49152] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 49152 (parameter=stop_token_ids, value=[49152])',
    ],
    [
      {messages: []},
      400,
      'BadRequestError',
      null,
      'Cannot apply chat template to an empty conversation. Provide at least one message.',
    ],
    [
      {mm_processor_kwargs: {a: 1}},
      400,
      'BadRequestError',
      'mm_processor_kwargs',
      'Per-request mm_processor_kwargs are disabled by default because they can change multimodal preprocessing resource usage. Start the server with --trust-request-mm-kwargs only when clients are trusted. (parameter=mm_processor_kwargs)',
    ],
  ])('%j', async (fields, status, type, param, message) => {
    const {chat, engine} = await openTestApp();
    const answer = await chat(fields);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({error: {message, type, param, code: status}});
    expect(engine.requests).toHaveLength(0);
  });

  it('lets an empty template variable and trusted templates pass', async () => {
    const {chat} = await openTestApp({}, {trustRequestChatTemplate: true});
    expect((await chat({chat_template: 'x', return_prompt_text: true})).body.prompt_text).toBe('x');
    const plain = await openTestApp();
    expect((await plain.chat({chat_template_kwargs: {chat_template: null}})).status).toBe(200);
  });

  it('counts every choice against the queue limit', async () => {
    const {chat} = await openTestApp({}, {maxNumQueuedReqs: 1});
    expect((await chat({temperature: 1, n: 2})).body.error).toMatchObject({code: 503, type: 'Service Unavailable'});
    expect((await chat({})).status).toBe(200);
  });

  it('answers 500 and no stream when the engine is dead', async () => {
    const {app, chat, engine} = await openTestApp();
    engine.die(new Error('killed'));
    for (const stream of [false, true]) {
      expect((await chat({stream})).body.error).toEqual({
        message: 'The server had an error while processing your request.',
        type: 'InternalServerError',
        param: null,
        code: 500,
      });
    }
    expect((await app.inject('/health')).statusCode).toBe(503);
    expect((await app.inject('/v1/models')).statusCode).toBe(200);
  });

  it('PR-sampling-05: logs failures of the engine and hides their text', async () => {
    const {chat, logger} = await openTestApp({script: () => [new GenerationError('NaN in row 3')]});
    expect((await chat({})).body.error).toEqual({
      message: 'Internal server error',
      type: 'InternalServerError',
      param: null,
      code: 500,
    });
    expect(logger.lines.find(({level}) => level === 'error')?.fields.err).toMatchObject({message: 'NaN in row 3'});
  });
});

describe('streams', () => {
  it('open every choice first and end with the mark', async () => {
    const {chat} = await openTestApp({answer: 'Hi'});
    const {text} = await chat({stream: true, n: 2, temperature: 1});
    const events = sseEvents(text);
    expect(events.slice(0, 2).map(({choices}) => [choices[0].index, choices[0].delta])).toEqual([
      [0, {role: 'assistant', content: ''}],
      [1, {role: 'assistant', content: ''}],
    ]);
    expect([streamedText(events, 0), streamedText(events, 1)]).toEqual(['Hi', 'Hi']);
    expect(sseBlocks(text).at(-1)).toBe('data: [DONE]');
    expect(new Set(events.map(({id}) => id)).size).toBe(1);
  });

  it('have one chunk for the last token and the end', async () => {
    const {chat} = await openTestApp({script: () => playTokens([28120], lengthEnd)});
    const events = sseEvents((await chat({stream: true})).text);
    expect(events.map(({choices}) => choices[0].finish_reason)).toEqual([null, 'length']);
    expect(events[1].choices[0].delta.content).not.toBe('');
  });

  it.each([
    ['asked for', {stream_options: {include_usage: true}}, {}, [false, true]],
    [
      'asked for in each chunk',
      {stream_options: {include_usage: true, continuous_usage_stats: true}},
      {},
      [true, true],
    ],
    ['in each chunk alone', {stream_options: {continuous_usage_stats: true}}, {}, [false, false]],
    ['refused but forced', {stream_options: {include_usage: false}}, {enableForceIncludeUsage: true}, [true, true]],
  ])('report usage: %s', async (_name, fields, options, expected) => {
    const {chat} = await openTestApp({}, options);
    const events = sseEvents((await chat({stream: true, ...fields})).text);
    const last = events.at(-1);
    expect(['usage' in events[0], last?.choices.length === 0 && 'usage' in last]).toEqual(expected);
  });

  it('have chunks of as many tokens as the server or the request wants', async () => {
    const script = () => playTokens([...Array(9).fill(28120), 2]);
    const {chat} = await openTestApp({script}, {streamInterval: 2});
    const sizes = async (fields: object) =>
      sseEvents((await chat({stream: true, return_token_ids: true, ...fields})).text)
        .slice(1)
        .map(({choices}) => choices[0].token_ids?.length);
    expect(await sizes({})).toEqual([1, 2, 2, 2, 2, 1]);
    expect(await sizes({stream_interval: 4})).toEqual([1, 4, 4, 1]);
  });

  it('carry an engine check as first event, with status 200', async () => {
    const {chat} = await openTestApp();
    const {status, text} = await chat({stream: true, stop_token_ids: [-1]});
    expect([status, sseBlocks(text)]).toEqual([
      200,
      [
        'data: {"error":{"message":"token_id(s) [-1] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 49152 (parameter=stop_token_ids, value=[-1])","type":"BadRequestError","param":"stop_token_ids","code":400}}',
        'data: [DONE]',
      ],
    ]);
  });

  it('answer plain errors to everything before that', async () => {
    const {chat} = await openTestApp();
    expect((await chat({stream: true, temperature: 5})).status).toBe(400);
  });

  it.each([
    [new GenerationError('x'), 'Internal server error', 500],
    [new GenerationError('again', {retryable: true}), 'again', 503],
    [new EngineDeadError('x'), 'The server had an error while processing your request.', 500],
  ])('end with an event for %s', async (error, message, code) => {
    const {chat} = await openTestApp({script: () => [{newTokenIds: [28120]}, error]});
    const {text} = await chat({stream: true});
    const blocks = sseBlocks(text);
    expect(JSON.parse(blocks.at(-2)!.slice(6))).toEqual({
      error: {message, type: 'InternalServerError', param: null, code},
    });
    expect(blocks.at(-1)).toBe('data: [DONE]');
  });

  it('carry headers of the plugins', async () => {
    const {app} = await openTestApp({}, {enableRequestIdHeaders: true, allowedOrigins: ['http://a.example']});
    const response = await app.inject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: {'content-type': 'application/json', 'x-request-id': 'abc', origin: 'http://a.example'},
      payload: {messages: userSays('Hi'), stream: true},
    });
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': 'abc',
      vary: 'Origin',
      'access-control-allow-origin': 'http://a.example',
    });
  });
});

describe('data parallel rank', () => {
  it.each([
    ['3', 400],
    ['0', 200],
    ['x', 200],
  ])('%s', async (rank, status) => {
    const {chat} = await openTestApp();
    expect((await chat({}, {'x-data-parallel-rank': rank})).status).toBe(status);
  });
});

it.each([
  ['max_tokens', '12345678901234567891', 'max_tokens=12345678901234567891 cannot be greater than max_model_len=2048'],
  ['n', '-12345678901234567891', 'n must be at least 1, got -12345678901234567891.'],
  ['logit_bias', '{"12345678901234567891":1}', 'token_id(s) [12345678901234567891] in logit_bias'],
  ['top_logprobs', '12345678901234567891', 'Requested sample logprobs of 12345678901234567891, which'],
  ['seed', '-9223372036854775809', "equal to -9223372036854775808', 'input': '-9223372036854775809'"],
])('an error quotes the integer of %s as it was written', async (field, value, message) => {
  const {post} = await openTestApp();
  const asked = `{"messages":[{"role":"user","content":"Hi"}],"logprobs":true,"${field}":${value}}`;
  const {status, body} = await post('/v1/chat/completions', asked);
  expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
});
