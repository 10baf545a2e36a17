/** The scale-out routes over a scripted engine: the switch, numbers that keep their kind, and ends by id. */
import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp, type TestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

function post({app}: TestApp, url: string, payload: string) {
  return app.inject({method: 'POST', url, headers: {'content-type': 'application/json'}, payload});
}

const renderUrl = '/v1/chat/completions/render';
const generateUrl = '/inference/v1/generate';

describe('scale-out routes', () => {
  it('refuse every body unless they are switched on', async () => {
    const response = await post(await openTestApp(), generateUrl, 'no json');
    expect([response.statusCode, response.json().error.type]).toEqual([403, 'PermissionDeniedError']);
  });

  it('keep the kind of numbers in tools', async () => {
    const app = await openTestApp({}, {enableScaleOut: true});
    const tool = '{"type":"function","function":{"name":"f","parameters":{"a":1.0,"b":12345678901234567890,"c":1}}}';
    const body = `{"messages":${JSON.stringify(userSays('Hi'))},"tools":[${tool}],"tool_choice":"none"}`;
    const {body: text} = await post(app, renderUrl, body);
    expect(text).toContain('"parameters":{"a":1.0,"b":12345678901234567890,"c":1}');
  });

  it('generate from what render gave', async () => {
    const app = await openTestApp({answer: 'Good day'}, {tokensOnly: true});
    const rendered = await post(app, renderUrl, JSON.stringify({messages: userSays('Hi'), request_id: 'r'}));
    const body = JSON.stringify({...rendered.json(), output_mode: 'derender'});
    const answer = (await post(app, generateUrl, body)).json();
    expect(answer.request_id).toBe('generate-tokens-chatcmpl-r');
    expect(answer.choices[0].message.content).toBe('Good day');
    expect(answer.usage.prompt_tokens).toBe(rendered.json().token_ids.length);
  });

  it('name a missing list of ids, and ignore unknown ids', async () => {
    const app = await openTestApp({}, {enableScaleOut: true});
    const abortUrl = '/inference/v1/abort_requests';
    const missing = await post(app, abortUrl, '{}');
    expect(missing.json().error).toMatchObject({message: "Missing 'request_ids' in request body", type: 'Bad Request'});
    expect((await post(app, abortUrl, '{"request_ids":["x"]}')).statusCode).toBe(200);
  });
});
