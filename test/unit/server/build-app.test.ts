import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

describe('unknown paths and methods', () => {
  it.each([
    ['GET', '/nope', 404, {detail: 'Not Found'}, undefined],
    ['GET', '//v1/models', 404, {detail: 'Not Found'}, undefined],
    ['GET', '/V1/models', 404, {detail: 'Not Found'}, undefined],
    ['GET', '/v1/models/tiny', 404, {detail: 'Not Found'}, undefined],
    ['GET', '/%zz', 404, {detail: 'Not Found'}, undefined],
    ['POST', '/nope', 404, {detail: 'Not Found'}, undefined],
    ['GET', '/v1/chat/completions', 405, {detail: 'Method Not Allowed'}, 'POST'],
    ['DELETE', '/version', 405, {detail: 'Method Not Allowed'}, 'GET'],
    ['PATCH', '/v1/chat/completions', 405, {detail: 'Method Not Allowed'}, 'POST'],
    ['OPTIONS', '/v1/models', 405, {detail: 'Method Not Allowed'}, 'GET'],
    ['QUERY', '/version', 405, {detail: 'Method Not Allowed'}, 'GET'],
  ] as const)('%s %s', async (method, url, status, body, allow) => {
    const {app} = await openTestApp();
    const payload = ['POST', 'PATCH'].includes(method)
      ? {payload: '{', headers: {'content-type': 'application/json'}}
      : {};
    const response = await app.inject({method, url, ...payload});
    expect(response.statusCode).toBe(status);
    expect(response.headers).toMatchObject({'content-type': 'application/json', ...(allow && {allow})});
    expect(response.json()).toEqual(body);
  });

  it('answers HEAD like any other wrong method', async () => {
    const {app} = await openTestApp();
    const response = await app.inject({method: 'HEAD', url: '/health'});
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET']);
  });

  it('redirects a slash too much', async () => {
    const {app} = await openTestApp();
    const response = await app.inject({url: '/v1/models/?limit=1', headers: {host: 'h.example:8000'}});
    expect([response.statusCode, response.headers.location, response.body]).toEqual([
      307,
      'http://h.example:8000/v1/models?limit=1',
      '',
    ]);
  });
});

describe('small routes', () => {
  it.each([
    ['GET', '/health', 200, ''],
    ['GET', '/ping', 200, ''],
    ['POST', '/ping', 200, ''],
    ['GET', '/version', 200, '{"version":"1.2.3"}'],
    ['GET', '/load', 200, '{"server_load":0}'],
  ] as const)('%s %s', async (method, url, status, text) => {
    const {app} = await openTestApp();
    const response = await app.inject({method, url});
    expect([response.statusCode, response.body]).toEqual([status, text]);
  });

  it('lists a card for each served name', async () => {
    const {app} = await openTestApp();
    const {data} = (await app.inject('/v1/models')).json();
    expect(data.map(({id}: {id: string}) => id)).toEqual(['tiny', 'alias']);
    expect(data[0]).toMatchObject({owned_by: 'vllm', root: 'models/tiny', parent: null, max_model_len: 2048});
    expect(Object.keys(data[0])).toEqual([
      'id',
      'object',
      'created',
      'owned_by',
      'root',
      'parent',
      'max_model_len',
      'permission',
    ]);
    expect(data[0].permission[0].id).toMatch(/^modelperm-[0-9a-f]{16}$/);
  });

  it('serves the model under its own name when there is no other', async () => {
    const {app} = await openTestApp({}, {servedModelName: []});
    expect((await app.inject('/v1/models')).json().data[0].id).toBe('models/tiny');
  });
});

describe('bodies', () => {
  const messages = '"messages":[{"role":"user","content":"Hi"}]';
  const mediaTypeError = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed";
  async function post(payload: string | Buffer, contentType?: string) {
    const {app} = await openTestApp({}, {maxBodyBytes: 2000});
    const headers = contentType === undefined ? {} : {'content-type': contentType};
    const response = await app.inject({method: 'POST', url: '/v1/chat/completions', headers, payload});
    return {status: response.statusCode, body: response.json()};
  }

  it.each(['text/plain', 'application/vnd.api+json', 'application/json ;charset=utf-8', 'nonsense', undefined])(
    'refuses content type %s',
    async (contentType) => {
      expect(await post(`{${messages}}`, contentType)).toEqual({
        status: 400,
        body: {error: {message: mediaTypeError, type: 'Bad Request', param: null, code: 400}},
      });
    },
  );

  it.each(['application/json', 'application/json;charset=latin-1', 'Application/JSON'])(
    'accepts content type %s',
    async (contentType) => {
      expect((await post(`{${messages}}`, contentType)).status).toBe(200);
    },
  );

  it.each([
    [
      '{"model":',
      'body.9',
      "{'type': 'json_invalid', 'loc': 'body.9', 'msg': 'JSON decode error', 'input': '<dict of 0 items>', 'ctx': {'error': 'Expecting value'}}",
    ],
    ['   ', 'body.3', "'type': 'json_invalid'"],
    ['', 'body', "{'type': 'missing', 'loc': 'body', 'msg': 'Field required', 'input': 'None'}"],
    ['null', 'body', "{'type': 'missing', 'loc': 'body', 'msg': 'Field required', 'input': 'None'}"],
    ['[1]', 'body', "'type': 'model_attributes_type'"],
    [
      '{}',
      'body.messages',
      "{'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required', 'input': '<dict of 0 items>'}",
    ],
  ])('refuses %s', async (payload, param, text) => {
    const {status, body} = await post(payload, 'application/json');
    expect([status, body.error.type, body.error.param]).toEqual([400, 'Bad Request', param]);
    expect(body.error.message).toContain(text);
  });

  it('accepts a byte-order mark, NaN and repeated keys', async () => {
    expect((await post(`\ufeff{"model":"no","model":"tiny",${messages}}`, 'application/json')).status).toBe(200);
    const {body} = await post(`{${messages},"top_p":Infinity}`, 'application/json');
    expect(body.error.message).toBe('top_p must be in (0, 1], got inf. (parameter=top_p, value=inf)');
  });

  it('refuses bytes that are no UTF-8, and half characters', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
    expect(await post(bytes, 'application/json')).toEqual({
      status: 400,
      body: {detail: 'There was an error parsing the body'},
    });
    expect((await post('{"messages":[{"role":"user","content":"a\\ud800b"}]}', 'application/json')).status).toBe(400);
  });

  it('refuses integers of more digits than Python reads', async () => {
    const app = await openTestApp();
    const ask = (numDigits: number) => app.post('/v1/chat/completions', `{${messages},"x":-${'1'.repeat(numDigits)}}`);
    expect((await ask(4300)).status).toBe(200);
    const refused = await ask(4301);
    expect([refused.status, refused.body]).toEqual([400, {detail: 'There was an error parsing the body'}]);
  });

  it('refuses bodies above its limit in the shape of the application', async () => {
    const {status, body} = await post(`{${messages},"x":"${'y'.repeat(3000)}"}`, 'application/json');
    expect([status, body.error]).toEqual([
      413,
      {
        message: 'The request body is larger than the limit of 2000 bytes (--max-body-bytes).',
        type: 'Payload Too Large',
        param: null,
        code: 413,
      },
    ]);
  });
});

describe('API keys', () => {
  const keys = {apiKey: ['sk-one', '', 'sk-two']};
  it.each([
    ['/v1/models', undefined, 401],
    ['/v1/models', 'Bearer sk-one', 200],
    ['/v1/models', 'bearer sk-two', 200],
    ['/v1/models', 'Bearer  sk-one', 401],
    ['/v1/models', 'Bearer sk-one ', 401],
    ['/v1/models', 'Basic sk-one', 401],
    ['/v1/models', 'Bearer sk-on', 401],
    ['/v1/models', 'Bearer', 401],
    ['/v1/models', 'Bearer ', 401],
    ['/v1nope', undefined, 401],
    ['/v2/anything', undefined, 401],
    ['/inference/v1/generate', undefined, 401],
    ['/cohere/v2/chat', undefined, 401],
    ['/health', undefined, 200],
    ['/version', undefined, 200],
    ['/nope', undefined, 404],
  ])('%s with %s', async (url, authorization, status) => {
    const {app} = await openTestApp({}, keys);
    const response = await app.inject({url, headers: authorization === undefined ? {} : {authorization}});
    expect(response.statusCode).toBe(status);
    if (status !== 401) return;
    expect(response.body).toBe('{"error":"Unauthorized"}');
    expect(response.headers).not.toHaveProperty('vary');
    expect(response.headers).not.toHaveProperty('www-authenticate');
  });

  it('are checked before the body is looked at, but not for OPTIONS', async () => {
    const {app} = await openTestApp({}, keys);
    expect((await app.inject({method: 'POST', url: '/v1/chat/completions', payload: '{'})).statusCode).toBe(401);
    expect((await app.inject({method: 'OPTIONS', url: '/v1/chat/completions'})).statusCode).toBe(405);
  });

  it('are not asked for when only empty ones are given', async () => {
    const {app} = await openTestApp({}, {apiKey: ['']});
    expect((await app.inject('/v1/models')).statusCode).toBe(200);
  });
});

describe('cross-origin access', () => {
  const allMethods = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
  const preflight = (origin: string, headers = {}) => ({
    method: 'OPTIONS' as const,
    url: '/v1/chat/completions',
    headers: {origin, 'access-control-request-method': 'POST', ...headers},
  });

  it('is off by default and says that answers depend on the origin', async () => {
    const {app} = await openTestApp();
    const {headers} = await app.inject({url: '/v1/models', headers: {origin: 'http://a.example'}});
    expect(headers.vary).toBe('Origin');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect((await app.inject('/nope')).headers.vary).toBe('Origin');
  });

  it.each([
    [['http://a.example'], false, 'http://a.example'],
    [['*'], false, '*'],
    [['*'], true, 'http://a.example'],
  ])('%j with credentials %s allows %s', async (allowedOrigins, allowCredentials, expected) => {
    const {app} = await openTestApp({}, {allowedOrigins, allowCredentials});
    const {headers} = await app.inject({url: '/v1/models', headers: {origin: 'http://a.example'}});
    expect(headers['access-control-allow-origin']).toBe(expected);
    expect(headers['access-control-allow-credentials']).toBe(allowCredentials ? 'true' : undefined);
  });

  it('answers an allowed preflight', async () => {
    const {app} = await openTestApp({}, {allowedOrigins: ['http://a.example']});
    const response = await app.inject(
      preflight('http://a.example', {'access-control-request-headers': 'content-type'}),
    );
    expect([response.statusCode, response.body]).toEqual([200, 'OK']);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'http://a.example',
      'access-control-allow-methods': allMethods,
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
    });
  });

  it.each([
    ['origin', 'http://b.example', {}, 'Disallowed CORS origin'],
    ['method', 'http://a.example', {'access-control-request-method': 'PUT'}, 'Disallowed CORS method'],
    ['header', 'http://a.example', {'access-control-request-headers': 'X-Other'}, 'Disallowed CORS headers'],
  ])('refuses a preflight with another %s', async (_name, origin, headers, text) => {
    const options = {allowedOrigins: ['http://a.example'], allowedMethods: ['POST'], allowedHeaders: ['X-Mine']};
    const {app} = await openTestApp({}, options);
    const response = await app.inject(preflight(origin, headers));
    expect([response.statusCode, response.body]).toEqual([400, text]);
  });
});

describe('access log', () => {
  it('has one line for each request, unless switched off', async () => {
    const {chat, logger} = await openTestApp();
    await chat({request_id: 'abc'});
    expect(logger.matching('POST /v1/chat/completions 200')[0].fields).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
      completionId: 'chatcmpl-abc',
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      ms: expect.any(Number),
    });
    const silent = await openTestApp({}, {disableUvicornAccessLog: true});
    await silent.chat({});
    expect(silent.logger.matching('completions 200')).toEqual([]);
  });
});

describe('system_fingerprint', () => {
  it.each([
    [{}, expect.stringMatching(/^vllm-1\.2\.3-[0-9a-f]{8}$/)],
    [{fingerprintMode: 'hash'}, expect.stringMatching(/^vllm-1\.2\.3-[0-9a-f]{8}$/)],
    [{fingerprintMode: 'custom', fingerprintValue: 'mine'}, 'mine'],
    [{fingerprintMode: 'none'}, null],
  ] as const)('%j', async (options, expected) => {
    const {chat} = await openTestApp({}, options);
    expect((await chat({})).body.system_fingerprint).toEqual(expected);
  });
});
