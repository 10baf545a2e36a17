import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

describe('/invocations', () => {
  it.each([
    [{messages: userSays('x')}, 'chat.completion'],
    [{prompt: 'x'}, 'text_completion'],
    [{prompt: 'x', messages: userSays('x')}, 'chat.completion'],
  ])('answers %j like the endpoint of its kind', async (body, object) => {
    const {post} = await openTestApp();
    expect(await post('/invocations', body)).toMatchObject({status: 200, body: {object}});
  });

  it('keeps the errors across fields of that endpoint', async () => {
    const {post} = await openTestApp();
    const chat = await post('/invocations', {messages: userSays('x'), tools: []});
    expect(chat.body.error.param).toBe('tools');
    expect((await post('/invocations', {})).body.error.param).toBe('prompt');
  });

  it('names what it takes when nothing fits', async () => {
    const {post} = await openTestApp();
    expect(await post('/invocations', {prompt: 5})).toMatchObject({
      status: 400,
      body: {error: {message: expect.stringMatching(/^Cannot find suitable handler for request\./), param: null}},
    });
  });

  it.each([
    ['{', 'JSON decode error: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'],
    ['{\n"a": x}', 'JSON decode error: Expecting value: line 2 column 6 (char 7)'],
    ['', 'JSON decode error: Expecting value: line 1 column 1 (char 0)'],
  ])('refuses the malformed body %j', async (body, message) => {
    const {post} = await openTestApp();
    expect((await post('/invocations', body)).body.error).toEqual({
      message,
      type: 'Bad Request',
      param: null,
      code: 400,
    });
  });

  it('wants JSON', async () => {
    const {post} = await openTestApp();
    const {body} = await post('/invocations', {prompt: 'x'}, {'content-type': 'text/plain'});
    expect(body.error.message).toContain('Unsupported Media Type');
  });
});
