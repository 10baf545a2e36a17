/** Bodies of requests and answers in the log: when, at which level, how much of them. */
import {afterEach, describe, expect, it, vi} from 'vitest';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('bodies of requests', () => {
  it('stay out of the log unless requests are logged', async () => {
    const {chat, logger} = await openTestApp();
    await chat({});
    expect(logger.matching('Request body')).toEqual([]);
  });

  it('are logged at debug level, cut', async () => {
    const {chat, logger} = await openTestApp({}, {enableLogRequests: true, maxLogLen: 12});
    await chat({});
    expect(logger.matching('Request body')).toMatchObject([{level: 'debug', fields: {body: '{"messages":'}}]);
  });

  it('are logged at the level of the environment', async () => {
    vi.stubEnv('VLLM_REQUEST_BODY_LOG_LEVEL', 'warning');
    const {chat, logger} = await openTestApp({}, {enableLogRequests: true});
    await chat({seed: 7});
    expect(logger.matching('Request body')).toMatchObject([
      {level: 'warn', fields: {body: expect.stringContaining('"seed":7')}},
    ]);
  });

  it('are not logged at a level that nobody knows, which is said once', async () => {
    vi.stubEnv('VLLM_REQUEST_BODY_LOG_LEVEL', 'LOUD');
    const {chat, logger} = await openTestApp({}, {enableLogRequests: true});
    await chat({});
    await chat({});
    expect(logger.matching('VLLM_REQUEST_BODY_LOG_LEVEL=LOUD is no level')).toHaveLength(1);
    expect(logger.matching('Request body')).toEqual([]);
  });
});

describe('bodies of answers', () => {
  it.each([false, true])('are logged when asked for, streamed: %s', async (stream) => {
    vi.stubEnv('VLLM_DEBUG_LOG_API_SERVER_RESPONSE', 'true');
    const {chat, logger} = await openTestApp({answer: 'Good day'});
    const {text} = await chat({stream});
    await expect.poll(() => logger.matching('Response body')).toHaveLength(1);
    expect(logger.matching('Response body')[0].fields).toMatchObject({status: 200, body: text});
  });

  it('are not logged otherwise', async () => {
    const {chat, logger} = await openTestApp();
    await chat({});
    expect(logger.matching('Response body')).toEqual([]);
  });
});

describe('a temperature between greedy and usable', () => {
  it.each([
    [0.001, 1],
    [0, 0],
    [0.01, 0],
  ])('%d: %d warnings', async (temperature, numWarnings) => {
    const {chat, logger} = await openTestApp();
    expect((await chat({temperature})).status).toBe(200);
    expect(logger.matching('is too small for stable numbers')).toHaveLength(numWarnings);
  });
});

describe('the stacks of errors that clients cause', () => {
  it.each([
    [false, 0],
    [true, 1],
  ])('with --log-error-stack %s: %d lines', async (logErrorStack, numLines) => {
    const {chat, logger} = await openTestApp({}, {logErrorStack});
    expect((await chat({n: 0})).status).toBe(400);
    expect(logger.lines.filter(({level}) => level === 'error')).toHaveLength(numLines);
  });
});
