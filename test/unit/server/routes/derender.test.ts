/**
 * Answers that were generated elsewhere: the way over three routes gives what one route gives, and what cannot be read is
 * refused.
 */
import {describe, expect, it} from 'vitest';
import {playTokens} from '../../../support/scripted-engine-client.ts';
import {closeAppsAfterEach, openTestApp, type TestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

const openApp = (answer = 'Good day, World!') => openTestApp({answer}, {enableScaleOut: true});
const generateUrl = '/inference/v1/generate';

type Body = Record<string, unknown>;

/** Without what differs from call to call. */
function comparable({id: _id, created: _created, ...answer}: Body): Body {
  return answer;
}

async function overThreeRoutes({post}: TestApp, chat_request: Body): Promise<Body> {
  const rendered = (await post('/v1/chat/completions/render', chat_request)).body as Body;
  const generate_response = (await post(generateUrl, rendered)).body;
  const prompt_token_ids = rendered.token_ids;
  return (await post('/v1/chat/completions/derender', {generate_response, prompt_token_ids, chat_request})).body;
}

describe('a chat answer over three routes', () => {
  it.each([
    {},
    {logprobs: true, top_logprobs: 1},
    {return_token_ids: true, return_weight_versions: true},
    {stop: [' World']},
    {stop: [' World'], include_stop_str_in_output: true},
    {skip_special_tokens: false},
    {n: 2},
  ])('is the one of the chat route: %j', async (fields) => {
    const app = await openApp();
    const request = {messages: userSays('Hi'), ...fields};
    const direct = (await app.post('/v1/chat/completions', request)).body as Body;
    expect(comparable(await overThreeRoutes(app, request))).toEqual(comparable(direct));
  });

  it('keeps the id that the client chose', async () => {
    const app = await openApp();
    const {id} = await overThreeRoutes(app, {messages: userSays('Hi'), request_id: 'mine'});
    expect(id).toBe('chatcmpl-mine');
  });
});

describe('a completion answer', () => {
  it('has the choices of every prompt, in order', async () => {
    const {post} = await openApp();
    const completion_request = {prompt: ['a', 'b'], n: 2, max_tokens: 8};
    const rendered = (await post('/v1/completions/render', completion_request)).body as unknown as Body[];
    const generate_responses = [];
    for (const body of rendered) generate_responses.push((await post(generateUrl, body)).body);
    const prompt_token_ids = rendered.map(({token_ids}) => token_ids);
    const body = {generate_responses, prompt_token_ids, completion_request};
    const answer = (await post('/v1/completions/derender', body)).body;
    const direct = (await post('/v1/completions', completion_request)).body;
    expect(comparable(answer)).toEqual(comparable(direct));
  });
});

describe('token ids alone', () => {
  const recorded = (fields: Body = {}) => ({request_id: 'r', choices: [{index: 0, token_ids: [19556, 2], ...fields}]});

  it('are text', async () => {
    const {post} = await openApp();
    const {body} = await post('/v1/chat/completions/derender', {generate_response: recorded(), prompt_tokens: 7});
    expect(body).toMatchObject({
      id: 'chatcmpl-r',
      choices: [{message: {role: 'assistant', content: 'Hello'}, finish_reason: 'stop'}],
      usage: {prompt_tokens: 7, completion_tokens: 2},
    });
  });

  it('that were cut keep their last token', async () => {
    const {post} = await openApp();
    const generate_response = recorded({finish_reason: 'length', token_ids: [19556, 905]});
    const {body} = await post('/v1/chat/completions/derender', {generate_response});
    expect(body.choices).toMatchObject([{message: {content: 'Hello world'}, finish_reason: 'length'}]);
  });

  it.each([
    ['another mode', {generate_response: {...recorded(), output_mode: 'text'}}, 400, 'literal_error'],
    ['a negative id', {generate_response: recorded({token_ids: [-1]})}, 400, 'greater_than_equal'],
    [
      'more ids than the context',
      {generate_response: recorded({token_ids: Array(2049).fill(1)})},
      400,
      'token_ids length (2049)',
    ],
    ['no answer', {}, 400, 'generate_response'],
    ['a stream', {stream: true}, 501, 'chunk by chunk'],
    ['an unknown model', {generate_response: recorded(), model: 'x'}, 404, 'does not exist'],
    ['a request with a fault', {generate_response: recorded(), chat_request: {messages: 5}}, 400, 'list_type'],
  ])('are refused for %s', async (_, body, status, text) => {
    const {post} = await openApp();
    const answer = await post('/v1/chat/completions/derender', body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(text);
  });

  it('need as many counts as answers', async () => {
    const {post} = await openApp();
    const {body} = await post('/v1/completions/derender', {generate_responses: [recorded()], prompt_tokens: [1, 2]});
    expect(body.error.message).toBe('prompt_tokens length (2) must equal generate_responses length (1)');
  });
});

describe('an answer that another stop string ended', () => {
  it('keeps its last token and the reason', async () => {
    const {post} = await openTestApp({script: () => playTokens([19556, 905])}, {enableScaleOut: true});
    const choice = {index: 0, token_ids: [19556, 905], finish_reason: 'stop', stop_reason: 'world'};
    const {body} = await post('/v1/chat/completions/derender', {generate_response: {choices: [choice]}});
    expect(body.choices).toMatchObject([
      {message: {content: 'Hello world'}, finish_reason: 'stop', stop_reason: 'world'},
    ]);
  });
});
