import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {UsageError} from '../../../../src/core/errors.ts';
import type {EndpointPlugin} from '../../../../src/server/endpoint-plugins/endpoint-plugin.ts';
import {loadPlugins} from '../../../../src/server/endpoint-plugins/load-plugins.ts';
import {closeAppsAfterEach, openTestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();

const supportFolder = join(import.meta.dirname, '../../../support');

async function openExample(options: Parameters<typeof openTestApp>[1] = {}) {
  const plugins = await loadPlugins(['./example-plugin.mjs'], supportFolder);
  return openTestApp({answer: 'Short.'}, options, {plugins});
}

describe('loadPlugins', () => {
  it('loads a file by a path relative to the folder', async () => {
    expect((await loadPlugins(['example-plugin.mjs'], supportFolder)).map(({name}) => name)).toEqual(['example']);
  });

  it.each([
    ['./nope.mjs', 'there is no such file or package'],
    ['fast-check', 'no plugin as its default export'],
    ['./tls/localhost-cert.pem', 'cannot be loaded'],
  ])('refuses %s', async (name, message) => {
    const failure = await loadPlugins([name], supportFolder).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toContain(message);
  });
});

describe('a plugin', () => {
  it('answers on its own routes', async () => {
    const {app} = await openExample();
    const response = await app.inject({url: '/hello/Ana%20Lu'});
    expect(response.json()).toEqual({greeting: 'Hello Ana Lu', model: 'tiny'});
  });

  it('gets body and content type as the client sent them, and sets status and headers', async () => {
    const {app} = await openExample();
    const headers = {'content-type': 'text/x-note'};
    const response = await app.inject({method: 'POST', url: '/v1/echo', headers, payload: 'ping'});
    expect([response.statusCode, response.headers['x-type'], response.body]).toEqual([201, 'text/x-note', 'ping']);
  });

  it('is behind the same checks as every route', async () => {
    const {app} = await openExample({apiKey: ['secret']});
    expect((await app.inject({method: 'POST', url: '/v1/echo', payload: 'x'})).statusCode).toBe(401);
    expect((await app.inject({url: '/hello/you'})).statusCode).toBe(200);
    expect((await app.inject({method: 'DELETE', url: '/count-down'})).statusCode).toBe(405);
  });

  it('streams', async () => {
    const server = await openExample();
    const response = await fetch(`${await server.listen()}/count-down`);
    expect(await response.text()).toBe('3\n2\n1\n');
  });

  it('asks the server itself', async () => {
    const {app} = await openExample();
    const response = await app.inject({method: 'POST', url: '/summary', payload: 'A long text.'});
    expect(response.json()).toEqual({summary: 'Short.'});
  });

  it('fails like a route of the server', async () => {
    const {app, logger} = await openExample();
    const response = await app.inject({url: '/fails'});
    expect(response.statusCode).toBe(500);
    expect(response.json().error.type).toBe('InternalServerError');
    expect(JSON.stringify(logger.matching('request failed')[0].fields.requestId)).toBeTruthy();
  });

  it('cannot take a route that is there', async () => {
    const thief: EndpointPlugin = {
      name: 'thief',
      register: ({addRoute}) => addRoute({method: 'GET', path: '/health', handler: () => new Response()}),
    };
    await expect(openTestApp({}, {}, {plugins: [thief]})).rejects.toThrow(
      'The plugin thief adds GET /health, which exists already',
    );
  });
});
