import {describe, expect, it} from 'vitest';
import {ParameterError, SchemaError, ValidationError} from '../../../../../src/core/errors.ts';
import {parseChatCompletionRequest, stopStringsOf} from '../../../../../src/core/protocol/openai/chat-completion.ts';
import {JsonFloat, parseJson} from '../../../../../src/core/util/parse-json.ts';

const messages = [{role: 'user', content: 'Hi'}];
const tool = {type: 'function', function: {name: 'get_weather'}};

function parse(fields: Record<string, unknown>) {
  return parseChatCompletionRequest(parseJson(JSON.stringify({messages, ...fields})));
}

function errorOf(run: () => unknown): ParameterError {
  try {
    run();
  } catch (error) {
    if (error instanceof ParameterError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('a request with only messages', () => {
  it('gets the defaults of the contract', () => {
    expect(parse({})).toMatchObject({
      model: null,
      n: 1,
      stream: false,
      stream_options: null,
      temperature: null,
      max_tokens: null,
      stop: null,
      stop_token_ids: [],
      tool_choice: 'none',
      include_reasoning: true,
      add_generation_prompt: true,
      skip_special_tokens: null,
      priority: 0,
      return_token_ids: false,
    });
  });

  it('drops unknown keys but keeps those of messages', () => {
    const request = parse({best_of: 3, messages: [{role: 'alien', content: 'x', mood: 'calm'}]});
    expect(request).not.toHaveProperty('best_of');
    expect(request.messages).toEqual([{role: 'alien', content: 'x', mood: 'calm'}]);
  });
});

describe('values', () => {
  it.each([
    [{n: null}, {n: 1}],
    [{max_tokens: '4'}, {max_tokens: 4}],
    [{stream: 1}, {stream: true}],
    [{stop: null}, {stop: null}],
    [{seed: -1}, {seed: -1n}],
    [{stop_token_ids: null}, {stop_token_ids: []}],
    [{tools: [tool]}, {tool_choice: 'auto'}],
    [{tools: [tool], tool_choice: null}, {tool_choice: null}],
    [{tool_choice: 'none'}, {tool_choice: 'none', tools: null}],
    [
      {stream: true, stream_options: {include_usage: true}},
      {stream_options: {include_usage: true, continuous_usage_stats: false}},
    ],
    [
      {messages: [{role: 'assistant', content: null, reasoning_content: 'a'}]},
      {messages: [{role: 'assistant', content: null, reasoning: 'a'}]},
    ],
    [
      {messages: [{role: 'assistant', content: 'b', reasoning_content: 'a', reasoning: 'c'}]},
      {messages: [{role: 'assistant', content: 'b', reasoning: 'c'}]},
    ],
  ])('%j', (fields, expected) => {
    expect(parse(fields)).toMatchObject(expected);
  });

  it('gives stop strings as a list', () => {
    expect([{stop: 'a'}, {stop: ['a', 'b']}, {stop: null}].map((fields) => stopStringsOf(parse(fields)))).toEqual([
      ['a'],
      ['a', 'b'],
      [],
    ]);
  });

  it('keeps the kind of numbers in template values', () => {
    const body = parseJson('{"messages":[{"role":"user","content":"Hi","k":1.0}],"chat_template_kwargs":{"x":2.0}}');
    const request = parseChatCompletionRequest(body);
    expect([request.messages[0].k, request.chat_template_kwargs]).toEqual([new JsonFloat(1), {x: new JsonFloat(2)}]);
  });
});

describe('messages', () => {
  it.each([
    [['hi'], 'body.messages.0'],
    [[null], 'body.messages.0'],
    [[{}], 'body.messages.0.role'],
    [[{role: 1, content: 'x'}], 'body.messages.0.role'],
    [[{role: 'user', content: 1}], 'body.messages.0.content'],
    [[{role: 'user', content: null}], 'body.messages.0.content'],
    [[{role: 'user', content: {type: 'text', text: 'x'}}], 'body.messages.0.content'],
    [[{role: 'user', content: ['x']}], 'body.messages.0.content.0'],
    [[{role: 'user', content: [{foo: 'x'}]}], 'body.messages.0.content.0.type'],
    [[{role: 'user', content: [{type: 'hologram'}]}], 'body.messages.0.content.0.type'],
    [[{role: 'user', content: [{type: 'input_text', text: 'x'}]}], 'body.messages.0.content.0.type'],
    [[{role: 'user', content: [{type: 'text'}]}], 'body.messages.0.content.0.text'],
    [[{role: 'assistant', tool_calls: 'x'}], 'body.messages.0.tool_calls'],
    [[{role: 'user', content: 'a\ud800b'}], 'body.messages.0.content'],
  ])('refuses %j', (bad, param) => {
    const error = errorOf(() => parse({messages: bad}));
    expect([error instanceof SchemaError, error.param]).toEqual([true, param]);
  });

  it.each([
    [{role: 'user'}],
    [{role: 'user', content: []}],
    [{role: 'user', content: [{type: 'text', text: 'x'}]}],
    [{role: 'user', content: [{type: 'image_url', image_url: {url: 'x'}}]}],
    [{role: 'assistant', content: null}],
    [{role: 'alien', content: ['x', {type: 'thinking', thinking: 'y'}, {type: 'text', text: null}]}],
  ])('accepts %j', (message) => {
    expect(parse({messages: [message]}).messages).toEqual([message]);
  });
});

describe('checks before types', () => {
  const usage = {stream_options: {include_usage: true}};
  const named = (value: unknown) => ({tools: [tool], tool_choice: {type: 'function', function: value}});
  it.each([
    [{continue_final_message: true, add_generation_prompt: true}, null, 'Cannot set both'],
    [{tools: []}, 'tools', '`tools` must not be an empty array.'],
    [{tools: [], tool_choice: 'required'}, 'tools', '`tools` must not be an empty array.'],
    [{tool_choice: 'auto'}, 'tool_choice', 'When using `tool_choice`, `tools` must be set.'],
    [{tools: [tool], tool_choice: 'sometimes'}, 'tool_choice', 'Invalid value for `tool_choice`: sometimes!'],
    [named('get_weather'), 'tool_choice.function', 'Invalid value for `function`: `get_weather` in'],
    [named(undefined), 'tool_choice.function', 'Invalid value for `function`: `None` in'],
    [named({}), 'tool_choice.function.name', 'Expected field `name` in `function`'],
    [named({name: 5}), 'tool_choice.function.name', 'Invalid `name` in `function`: `5` in'],
    [named({name: 'nope'}), 'tool_choice', 'The tool specified in `tool_choice` does not match'],
    [{structured_outputs: {json: {}, regex: 'a'}}, null, 'You can only use one kind of constraints'],
    [{structured_outputs: {regex: 'a'}, tools: [tool], tool_choice: null}, null, 'You can only either use constraints'],
    [{structured_outputs: {structural_tag: '{not json'}}, 'structured_outputs', 'Invalid structured_outputs'],
    [{logprob_token_ids: [1]}, 'logprob_token_ids', 'when using `logprob_token_ids`'],
    [
      {logprob_token_ids: [1], logprobs: true, use_beam_search: true},
      'logprob_token_ids',
      'is not supported with beam search',
    ],
    [{prompt_logprobs: 'x'}, 'prompt_logprobs', '`prompt_logprobs` must be an integer.'],
    [{prompt_logprobs: -1, stream: true}, 'prompt_logprobs', 'are not available when `stream=True`'],
    [{prompt_logprobs: -2}, 'prompt_logprobs', 'must be a positive value or -1'],
    [{top_logprobs: -2, logprobs: true}, 'top_logprobs', 'must be a positive value or -1'],
    [{top_logprobs: 2, ...usage}, 'top_logprobs', '`logprobs` must be set to true'],
    [usage, 'stream_options', 'Stream options can only be defined when `stream=True`.'],
    [{...usage, temperature: 'x'}, 'stream_options', 'Stream options can only be defined'],
    [{...usage, cache_salt: ''}, 'stream_options', 'Stream options can only be defined'],
    [{response_format: {type: 'json_schema'}}, 'response_format', "the 'json_schema' field must be provided"],
    [
      {response_format: {type: 'structural_tag', structures: [], triggers: 'x'}},
      'response_format',
      'Invalid response_format',
    ],
    [{cache_salt: ''}, 'cache_salt', 'must be a non-empty string'],
    [{cache_salt: 5}, 'cache_salt', 'must be a non-empty string'],
    [{cache_salt: 'a/b'}, 'cache_salt', 'must be at most 128 characters'],
    [{cache_salt: 'x'.repeat(129)}, 'cache_salt', 'must be at most 128 characters'],
    [{thinking_token_budget: true, n: 'x'}, 'thinking_token_budget', 'must be a non-negative integer or -1'],
    [
      {repetition_detection: {max_pattern_size: 1, min_pattern_size: 2, min_count: 2}},
      null,
      'max_pattern_size, min_pattern_size must be >=0',
    ],
    [{repetition_detection: {max_pattern_size: 2, min_pattern_size: 1, min_count: 1}}, null, 'min_count must be >= 2'],
    [{repetition_detection: {max_pattern_size: '2', min_count: '1'}}, null, 'min_count must be >= 2'],
    [{repetition_detection: {max_pattern_size: 2}, n: 'x'}, null, 'min_count must be >= 2'],
    [{repetition_detection: {max_pattern_size: '-1'}}, null, 'must be >=0'],
    [{repetition_detection: {min_pattern_size: true}}, null, 'must be >=0'],
    [{kv_transfer_params: {prompt_token_ids: [-1]}}, 'kv_transfer_params.prompt_token_ids', 'must be a non-empty list'],
    [{structured_outputs: {}}, null, 'You must use one kind of structured outputs constraint but none'],
    [{structured_outputs: {regex: 'a', grammar: 'b'}}, null, 'but multiple are specified'],
  ])('%j', (fields, param, text) => {
    const error = errorOf(() => parse(fields));
    expect([error instanceof ValidationError, error.param]).toEqual([true, param]);
    expect(error.message).toContain(text);
  });

  it.each([
    {stream_options: {}},
    {stream_options: null},
    {cache_salt: 'x'.repeat(128)},
    {prompt_logprobs: 0, stream: true},
  ])('accepts %j', (fields) => {
    expect(() => parse(fields)).not.toThrow();
  });
});
