import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

describe('request log', () => {
  it('is off by default', async () => {
    const {chat, logger} = await openTestApp();
    await chat({});
    expect(logger.matching('Received request')).toEqual([]);
  });

  it('names the request and its lengths, without any text above the debug level', async () => {
    const {chat, logger} = await openTestApp({answer: 'Paris.'}, {enableLogRequests: true});
    const {body} = await chat({}, {'x-request-id': 'mine'});
    const usage = body.usage as {prompt_tokens: number; completion_tokens: number};
    const [received] = logger.matching('Received request chatcmpl-mine');
    expect(received.fields).toMatchObject({numPrompts: 1, promptTokens: usage.prompt_tokens});
    const [finished] = logger.matching('Finished request chatcmpl-mine');
    expect(finished.fields.choices).toEqual([
      {finishReason: 'stop', numTokens: usage.completion_tokens, characters: 'Paris.'.length},
    ]);
    const shown = logger.lines.filter(({level}) => level !== 'debug');
    expect(JSON.stringify(shown)).not.toMatch(/Say hello|Paris/);
  });

  it('holds texts up to the given length when asked to', async () => {
    const options = {enableLogRequests: true, enableLogOutputs: true, maxLogLen: 3};
    const {chat, logger} = await openTestApp({answer: 'Paris.'}, options);
    await chat({stream: true});
    expect(logger.matching('Received request')[0].fields.prompts).toEqual(['<|i']);
    expect(logger.matching('Finished request')[0].fields.choices).toMatchObject([{text: 'Par'}]);
  });
});

describe('access log', () => {
  it('leaves out the paths it was told to', async () => {
    const {app, logger} = await openTestApp({}, {disableAccessLogForEndpoints: '/health, /metrics'});
    for (const url of ['/health', '/metrics', '/version']) await app.inject({url});
    expect(logger.lines.map(({message}) => message).filter((message) => message.startsWith('GET'))).toEqual([
      'GET /version 200',
    ]);
  });
});
