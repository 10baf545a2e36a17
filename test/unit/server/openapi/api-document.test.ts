import {afterEach, describe, expect, it, vi} from 'vitest';
import type {EndpointPlugin} from '../../../../src/server/endpoint-plugins/endpoint-plugin.ts';
import {chatAnswer, chatChunk, completionAnswer, modelList} from '../../../../src/server/openapi/answer-schemas.ts';
import type {ApiDocument} from '../../../../src/server/openapi/api-document.ts';
import type {ServerOptions} from '../../../../src/server/server-config.ts';
import {sseEvents} from '../../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();
afterEach(() => vi.unstubAllEnvs());

const allRoutes: Partial<ServerOptions> = {
  enableTokenizerInfoEndpoint: true,
  enableScaleOut: true,
  tokensOnly: true,
};

async function openDocument(options: Partial<ServerOptions> = {}, plugins: EndpointPlugin[] = []) {
  const server = await openTestApp({}, options, {plugins});
  const response = await server.app.inject({url: '/openapi.json'});
  return {server, document: response.json() as ApiDocument, text: response.body};
}

describe('/openapi.json', () => {
  it('knows every route of the server', async () => {
    vi.stubEnv('VLLM_SERVER_DEV_MODE', '1');
    const {server, document} = await openDocument(allRoutes);
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, {tags}]) => [`${method.toUpperCase()} ${path}`, tags] as const),
    );
    const routes = server.logger.matching('Route: ').map(({message}) => message.slice('Route: '.length));
    expect(described.map(([name]) => name).sort()).toEqual(routes.sort());
    expect(described.filter(([, tags]) => tags.includes('Plugins')).map(([name]) => name)).toEqual([]);
  });

  it('names each operation once, and refers to nothing that is not there', async () => {
    const {document, text} = await openDocument(allRoutes);
    const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((o) => o.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !(name! in document.components.schemas))).toEqual([]);
  });

  it('describes whole and streamed answers of a route that streams', async () => {
    const {document} = await openDocument();
    const {content = {}} = document.paths['/v1/chat/completions']!.post!.responses['200']!;
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream']);
    expect(content['text/event-stream']!.schema.properties).toMatchObject({
      data: {anyOf: [{$ref: '#/components/schemas/ChatCompletionStreamResponse'}, {}, {const: '[DONE]'}]},
    });
  });

  it('says where a key is needed, and under which prefix the server is', async () => {
    const {document} = await openDocument({apiKey: ['k'], rootPath: 'llm'});
    expect(document.servers).toEqual([{url: '/llm'}]);
    expect(document.paths['/v1/models']!.get).toMatchObject({security: [{key: []}], responses: {401: {}}});
    expect(document.paths['/tokenize']!.post).not.toHaveProperty('security');
  });

  it('shows routes of plugins with their parameters', async () => {
    const plugin: EndpointPlugin = {
      name: 'p',
      register: ({addRoute}) =>
        addRoute({method: 'GET', path: '/hi/:name', summary: 'Greets', handler: () => new Response('hi')}),
    };
    const {document} = await openDocument({}, [plugin]);
    expect(document.paths['/hi/{name}']!.get).toMatchObject({
      summary: 'Greets',
      tags: ['Plugins'],
      parameters: [{name: 'name', in: 'path'}],
    });
  });

  it('is not there when switched off', async () => {
    const {app} = await openTestApp({}, {disableFastapiDocs: true});
    for (const url of ['/openapi.json', '/docs', '/redoc']) {
      expect((await app.inject({url})).statusCode).toBe(404);
    }
  });
});

describe('the schemas of answers', () => {
  it('fit what this server answers', async () => {
    const {app, chat} = await openTestApp({answer: 'One.'});
    chatAnswer.parse((await chat({return_token_ids: true, return_prompt_text: true})).body);
    const stream = await chat({stream: true, stream_options: {include_usage: true}});
    for (const event of sseEvents(stream.text)) chatChunk.parse(event);
    modelList.parse((await app.inject({url: '/v1/models'})).json());
    const headers = {'content-type': 'application/json'};
    const completion = await app.inject({method: 'POST', url: '/v1/completions', payload: '{"prompt":"x"}', headers});
    completionAnswer.parse(completion.json());
  });
});

describe('/docs', () => {
  it.each(['/docs', '/redoc'])('shows routes and schemas under %s, with nothing from elsewhere', async (url) => {
    const {app} = await openTestApp();
    const response = await app.inject({url});
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toContain('<code>/v1/chat/completions</code>');
    expect(response.body).toContain('id="ChatCompletionRequest"');
    expect(response.body).not.toMatch(/https?:\/\/|<script/);
  });
});
