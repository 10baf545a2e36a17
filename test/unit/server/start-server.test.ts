import {once} from 'node:events';
import {connect} from 'node:net';
import {afterEach, describe, expect, it, vi} from 'vitest';
import {engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import {ModelError, UsageError} from '../../../src/core/errors.ts';
import {type ServerOptions, serverOptionsSchema} from '../../../src/server/server-config.ts';
import {type LoadModel, type RunningServer, startServer} from '../../../src/server/start-server.ts';
import {freePort} from '../../support/free-port.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';
import type {ScriptedEngineClient, ScriptedStep} from '../../support/scripted-engine-client.ts';
import {createScriptedLlm, type ScriptedLlmOptions} from '../../support/scripted-llm.ts';
import {sseEvents} from '../../support/sse-transcript.ts';
import {userSays} from '../../support/test-app.ts';

const oneToken: ScriptedStep = {newTokenIds: [28120], numCachedTokens: 0};
const running: RunningServer[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(running.splice(0).map((server) => server.stop('end of the test')));
});

function serveOptions(server: Partial<ServerOptions>) {
  return {
    model: null,
    server: serverOptionsSchema.parse({port: 0, ...server}),
    engine: engineOptionsSchema.parse({}),
  };
}

async function start(llmOptions: ScriptedLlmOptions = {}, server: Partial<ServerOptions> = {}) {
  const logger = new RecordingLogger();
  const {llm, engine} = await createScriptedLlm(llmOptions);
  const loadModel: LoadModel = async () => ({llm, files: {displayName: 'tiny'}, templateSource: 'test'});
  const runningServer = await startServer(serveOptions(server), {reporter: {report() {}}, logger, loadModel});
  running.push(runningServer);
  return {server: runningServer, engine, logger, url: runningServer.url};
}

function post(url: string, fields: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({messages: userSays('Hi'), ...fields}),
  });
}

async function waitForRequests(engine: ScriptedEngineClient, count: number): Promise<void> {
  await vi.waitFor(() => expect(engine.requests).toHaveLength(count));
}

describe('start', () => {
  it('serves under the address it reports', async () => {
    const {server, url} = await start();
    expect(url).toBe(`http://127.0.0.1:${server.port}`);
    expect(server.modelName).toBe('tiny');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await (await post(url, {})).json()) as object).toMatchObject({model: 'tiny'});
  });

  it('answers 503 until the model is there', async () => {
    const {llm} = await createScriptedLlm();
    let port = 0;
    let statuses: unknown[] = [];
    const loadModel: LoadModel = async (_options, {onProgress}) => {
      onProgress({stage: 'load', fraction: 0.5, detail: 'half'});
      const url = `http://127.0.0.1:${port}`;
      const [health, models] = [await fetch(`${url}/health`), await fetch(`${url}/v1/models`)];
      statuses = [health.status, await health.text(), models.status, models.headers.get('retry-after')];
      return {llm, files: {displayName: 'tiny'}, templateSource: 'test'};
    };
    port = await freePort();
    const report = vi.fn();
    const context = {reporter: {report}, logger: new RecordingLogger(), loadModel};
    running.push(await startServer(serveOptions({port}), context));
    expect(statuses).toEqual([503, '', 503, '5']);
    expect(report).toHaveBeenCalledWith({stage: 'load', fraction: 0.5, detail: 'half'});
  });

  it('gives the port back when the model cannot be loaded', async () => {
    const port = await freePort();
    const loadModel: LoadModel = async () => {
      throw new ModelError('no such model');
    };
    const context = {reporter: {report() {}}, logger: new RecordingLogger(), loadModel};
    await expect(startServer(serveOptions({port}), context)).rejects.toThrow('no such model');
    await start({}, {port});
  });

  it('says who holds a port that is in use, and which one is free', async () => {
    const {server} = await start();
    const error = await start({}, {port: server.port}).catch((reason: unknown) => reason as UsageError);
    expect(error).toBeInstanceOf(UsageError);
    const {message, hint, exitCode} = error as UsageError;
    expect(exitCode).toBe(4);
    expect(message).toContain(`Port ${server.port} is in use`);
    if (process.platform === 'linux') expect(message).toContain(`by process ${process.pid} (`);
    expect(hint).toMatch(/^Port \d+ is free: --port \d+$/);
  });

  it('says what is wrong with an address', async () => {
    await expect(start({}, {host: '203.0.113.7'})).rejects.toMatchObject({
      message: 'Cannot listen on 203.0.113.7, port 0: this machine has no such address.',
      exitCode: 4,
    });
  });

  it('says that keys are asked for and where they come from, without showing one', async () => {
    vi.stubEnv('VLLM_API_KEY', 'abc-secret');
    const {logger} = await start({}, {apiKey: ['abc-secret']});
    expect(logger.matching('API key check is on (1 key, taken from VLLM_API_KEY)')).toHaveLength(1);
    expect(JSON.stringify(logger.lines)).not.toContain('abc-secret');
  });
});

describe('stop', () => {
  it('ends running requests with what they have, closes the engine and says so', async () => {
    const {server, engine, url, logger} = await start({script: () => [oneToken, oneToken, 'hang']});
    const answers = [post(url, {stream: true, stream_options: {include_usage: true}}), post(url, {})];
    await waitForRequests(engine, 2);
    await (await answers[0]).clone().body!.getReader().read();
    await server.stop('test');
    const [stream, whole] = await Promise.all(answers);
    const text = await stream.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const events = sseEvents(text);
    expect(events.flatMap(({choices}) => choices.map((choice) => choice.finish_reason)).at(-1)).toBe('abort');
    expect(events.at(-1)?.usage).toMatchObject({completion_tokens: 2});
    expect(await whole.json()).toMatchObject({choices: [{finish_reason: 'abort'}], usage: {completion_tokens: 2}});
    expect(await server.closed).toEqual({reason: 'stopped'});
    expect(engine.isAlive()).toBe(false);
    expect(logger.lines.filter(({level}) => level === 'error')).toEqual([]);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('closes idle connections at once', async () => {
    const {server} = await start();
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    const silent = connect(server.port, '127.0.0.1');
    await once(silent, 'connect');
    const closed = [once(socket, 'close'), once(silent, 'close')];
    const begin = performance.now();
    await server.stop('test');
    await Promise.all(closed);
    expect(performance.now() - begin).toBeLessThan(2000);
  });

  it('lets requests finish within the shutdown timeout, and refuses new ones', async () => {
    const script = () => [oneToken, 300, {newTokenIds: [2], finishReason: 'stop' as const}];
    const {server, engine, url, logger} = await start({script}, {shutdownTimeout: 20});
    const socket = connect(server.port, '127.0.0.1');
    const answer = post(url, {});
    await waitForRequests(engine, 1);
    const stopped = server.stop('test');
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toContain('HTTP/1.1 503');
    expect(await (await answer).json()).toMatchObject({choices: [{finish_reason: 'stop'}]});
    await stopped;
    expect(logger.matching('Stopping (test): 1 request')).toHaveLength(1);
  });

  it('ends what is still running after the shutdown timeout', async () => {
    const {server, engine, url} = await start({script: () => [oneToken, 'hang']}, {shutdownTimeout: 0.1});
    const answer = post(url, {});
    await waitForRequests(engine, 1);
    await server.stop('test');
    expect(await (await answer).json()).toMatchObject({choices: [{finish_reason: 'abort'}]});
  });

  it('may be called twice', async () => {
    const {server} = await start();
    await Promise.all([server.stop('one'), server.stop('two')]);
    await server.stop('three');
  });
});

describe('death of the engine', () => {
  it('shows on /health, then ends the server with the reason', async () => {
    const {server, engine, url, logger} = await start({script: () => [oneToken, 'hang']});
    const answer = post(url, {stream: true});
    await waitForRequests(engine, 1);
    engine.die(new Error('killed by a test'));
    expect((await fetch(`${url}/health`)).status).toBe(503);
    expect(await (await answer).text()).toContain('The server had an error while processing your request.');
    expect(await server.closed).toMatchObject({reason: 'engine-death', error: {message: 'killed by a test'}});
    expect(logger.matching('No engine is left')).toHaveLength(1);
  });

  it('leaves the server up when told so', async () => {
    vi.stubEnv('VLLM_KEEP_ALIVE_ON_ENGINE_DEATH', '1');
    const {server, engine, url} = await start();
    engine.die(new Error('killed'));
    const end = await Promise.race([server.closed, new Promise((resolve) => setTimeout(resolve, 2500, 'open'))]);
    expect(end).toBe('open');
    expect((await fetch(`${url}/health`)).status).toBe(503);
  });
});
