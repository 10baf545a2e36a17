import {describe, expect, it} from 'vitest';
import {normalizeRootPath, normalizeUrl} from '../../../src/server/normalize-url.ts';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

describe('normalizeRootPath', () => {
  it.each([
    ['', ''],
    ['/', ''],
    ['llm', '/llm'],
    ['/llm/', '/llm'],
    ['/a/b', '/a/b'],
  ])('makes %j into %j', (given, expected) => {
    expect(normalizeRootPath(given)).toBe(expected);
  });
});

describe('normalizeUrl', () => {
  it.each([
    ['/v1/models?a=//b', '/v1/models?a=//b'],
    ['/v1//models', '/v1/models'],
    ['/v1///chat//completions', '/v1/chat/completions'],
    ['//v1/models', '//v1/models'],
    ['/llm/v1/models', '/v1/models'],
    ['/llm//v1/models', '/v1/models'],
    ['/llm', '/'],
    ['/llm?x', '/?x'],
    ['/llmx/v1', '/llmx/v1'],
    ['/v1/models', '/v1/models'],
    ['http://host:1/v1/models?a', '/v1/models?a'],
    ['HTTPS://host/llm/v1//models', '/v1/models'],
    ['http://host?x', '/?x'],
    ['*', '*'],
    ['/%761/models?a=%61', '/v1/models?a=%61'],
    ['/llm/%2e/v1%2Fmodels%20%zz', '/./v1%2Fmodels%20%zz'],
  ])('makes %s into %s behind the prefix /llm', (given, expected) => {
    expect(normalizeUrl(given, '/llm')).toBe(expected);
  });
});

describe('paths with a slash too many or a prefix', () => {
  it('are served as if the slash were not there', async () => {
    const {app} = await openTestApp();
    expect((await app.inject({url: '/v1//models'})).statusCode).toBe(200);
    expect((await app.inject({url: '//v1/models'})).json()).toEqual({detail: 'Not Found'});
  });

  it('ask for the key all the same', async () => {
    const {app} = await openTestApp({}, {apiKey: ['secret'], rootPath: '/llm'});
    const escaped = ['/%761/models', '/v%31/models', '/%6C%6Cm/%76%31/mode%6cs', 'http://x/%761/models'];
    for (const url of ['/v1/models', '/v1//models', '/llm/v1/models', '/llm//v1/models', ...escaped]) {
      expect((await app.inject({url})).statusCode, url).toBe(401);
    }
    expect((await app.inject({url: '/llm/health'})).statusCode).toBe(200);
  });

  it('keep the prefix in redirects', async () => {
    const {app} = await openTestApp({}, {rootPath: '/llm'});
    const {headers} = await app.inject({url: '/llm/v1/models/?a=1', headers: {host: 'x:1'}});
    expect(headers.location).toBe('http://x:1/llm/v1/models?a=1');
  });
});
