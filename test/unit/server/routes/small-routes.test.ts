import {afterEach, describe, expect, it, vi} from 'vitest';
import {closeAppsAfterEach, openTestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();
afterEach(() => vi.unstubAllEnvs());

const json = {'content-type': 'application/json'};

describe('/load', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])('counts requests in progress when tracking is %s: %i', async (enableServerLoadTracking, expected) => {
    const server = await openTestApp({script: () => ['hang']}, {enableServerLoadTracking});
    const url = await server.listen();
    const leave = new AbortController();
    const body = JSON.stringify({messages: [{role: 'user', content: 'x'}], stream: true});
    const asked = fetch(`${url}/v1/chat/completions`, {method: 'POST', headers: json, body, signal: leave.signal});
    const load = async () => ((await (await fetch(`${url}/load`)).json()) as {server_load: number}).server_load;
    await vi.waitFor(() => expect(server.engine.requests).toHaveLength(1));
    expect(await load()).toBe(expected);
    leave.abort();
    await asked.then((response) => response.text()).catch(() => {});
    await vi.waitFor(async () => expect(await load()).toBe(0));
  });
});

describe('routes of abilities that the model lacks', () => {
  it.each([
    ['/v1/decisions', {questions: []}, 'The model does not support the Decisions API'],
    ['/v1/systemone', {}, 'The model does not support the structured decision API'],
  ])('%s answers 501', async (url, payload, message) => {
    const {app} = await openTestApp();
    const response = await app.inject({method: 'POST', url, payload, headers: json});
    expect(response.statusCode).toBe(501);
    expect(response.json()).toEqual({error: {message, type: 'NotImplementedError', param: null, code: 501}});
  });

  it('looks at the body first', async () => {
    const {app} = await openTestApp();
    const response = await app.inject({method: 'POST', url: '/v1/decisions', payload: '[]', headers: json});
    expect(response.statusCode).toBe(400);
  });

  it('has no sources of cache events', async () => {
    const {app} = await openTestApp();
    expect((await app.inject({url: '/kv_event_sources'})).body).toBe('{}');
  });
});

describe('/reset_prefix_cache', () => {
  it('is there in development mode only', async () => {
    const {app} = await openTestApp();
    expect((await app.inject({method: 'POST', url: '/reset_prefix_cache'})).statusCode).toBe(404);
  });

  it('tells the engine and answers with an empty body', async () => {
    vi.stubEnv('VLLM_SERVER_DEV_MODE', '1');
    const {app, engine} = await openTestApp();
    const {statusCode, body} = await app.inject({method: 'POST', url: '/reset_prefix_cache'});
    expect({statusCode, body}).toEqual({statusCode: 200, body: ''});
    expect(engine.numCacheResets).toBe(1);
  });
});

describe('/server_info', () => {
  it('is there in development mode only', async () => {
    const {app} = await openTestApp();
    expect((await app.inject({url: '/server_info'})).statusCode).toBe(404);
  });

  it('shows options and environment without secrets', async () => {
    vi.stubEnv('VLLM_SERVER_DEV_MODE', '1');
    vi.stubEnv('VLLM_API_KEY', 'hidden-1');
    const {app} = await openTestApp({}, {apiKey: ['hidden-2'], port: 1234});
    const response = await app.inject({url: '/server_info?config_format=json'});
    expect(response.json()).toMatchObject({
      vllm_config: {model: 'models/tiny', port: 1234, numApiKeys: 1},
      vllm_env: {VLLM_SERVER_DEV_MODE: '1'},
    });
    expect(response.body).not.toContain('hidden');
    expect(typeof (await app.inject({url: '/server_info'})).json().vllm_config).toBe('string');
  });
});
