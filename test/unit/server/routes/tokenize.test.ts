import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

describe('/tokenize', () => {
  it('gives the ids of a text of any length', async () => {
    const {post} = await openTestApp();
    expect((await post('/tokenize', {prompt: 'Hello wörld', return_token_strs: true})).body).toEqual({
      count: 4,
      max_model_len: 2048,
      tokens: [19556, 267, 29989, 400],
      token_strs: ['Hello', 'Ġw', 'Ã¶r', 'ld'],
    });
    expect((await post('/tokenize', {prompt: ' a'.repeat(3000)})).body).toMatchObject({count: 3000, token_strs: null});
  });

  it('renders a conversation, also next to a prompt', async () => {
    const {post, chat} = await openTestApp();
    const messages = userSays('Say hello.');
    const {body} = await post('/tokenize', {messages, prompt: 'x'});
    const asked = await chat({messages, return_token_ids: true});
    expect(body).toMatchObject({tokens: asked.body.prompt_token_ids});
  });

  it('renders conversations beyond the context', async () => {
    const {post} = await openTestApp();
    const {status, body} = await post('/tokenize', {messages: userSays(' a'.repeat(3000))});
    expect(status).toBe(200);
    expect(Number(body.count)).toBeGreaterThan(3000);
  });

  it.each([
    [{}, 400, 'body.prompt', /errors:\n.*'body\.prompt'.*\n.*'body\.messages'/],
    [{prompt: 5}, 400, 'body.prompt', /'string_type'.*\n.*'missing'/],
    [{model: 'x', prompt: 'a'}, 404, 'model', /does not exist/],
    [{messages: userSays('x'), chat_template: 'x'}, 400, null, /--trust-request-chat-template is not set/],
    [{messages: userSays('x'), mm_processor_kwargs: {a: 1}}, 400, 'mm_processor_kwargs', /disabled by default/],
    [
      {messages: userSays('x'), add_generation_prompt: true, continue_final_message: true},
      400,
      null,
      /^Cannot set both/,
    ],
    [{messages: []}, 400, null, /^Cannot apply chat template to an empty conversation/],
  ])('refuses %j', async (body, status, param, message) => {
    const {post} = await openTestApp();
    const answer = await post('/tokenize', body);
    expect(answer).toMatchObject({status, body: {error: {param}}});
    expect(answer.body.error.message).toMatch(message);
  });
});

describe('/detokenize', () => {
  it('gives the text with special tokens and without unknown ids', async () => {
    const {post} = await openTestApp();
    expect((await post('/detokenize', {tokens: [1, '4093', 198, 49152]})).body).toEqual({prompt: '<|im_start|>user\n'});
  });

  it.each([
    [{tokens: [-1]}, 'body.tokens.0'],
    [{tokens: [2 ** 32]}, null],
    [{}, 'body.tokens'],
  ])('refuses %j', async (body, param) => {
    const {post} = await openTestApp();
    expect(await post('/detokenize', body)).toMatchObject({status: 400, body: {error: {param}}});
  });
});

describe('/tokenizer_info', () => {
  it('is there with its option only', async () => {
    const {app} = await openTestApp({}, {enableTokenizerInfoEndpoint: true});
    expect((await app.inject('/tokenizer_info')).statusCode).toBe(200);
    const {app: without} = await openTestApp();
    expect((await without.inject('/tokenizer_info')).statusCode).toBe(404);
  });
});
