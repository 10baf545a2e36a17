/** HTTPS, Unix sockets, and options that keep the server from starting. */
import {once} from 'node:events';
import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {get as getPlain, type IncomingMessage} from 'node:http';
import {get as getSecure} from 'node:https';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {afterEach, describe, expect, it} from 'vitest';
import {engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import {UsageError} from '../../../src/core/errors.ts';
import {type ServerOptions, serverOptionsSchema} from '../../../src/server/server-config.ts';
import {type LoadModel, type RunningServer, startServer} from '../../../src/server/start-server.ts';
import {readTlsOptions} from '../../../src/server/tls.ts';
import {startTlsRefresh} from '../../../src/server/tls-refresh.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';
import {createScriptedLlm} from '../../support/scripted-llm.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const tlsFolder = join(import.meta.dirname, '../../support/tls');
const sslCertfile = join(tlsFolder, 'localhost-cert.pem');
const sslKeyfile = join(tlsFolder, 'localhost-key.pem');
const running: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop('end of the test')));
});

async function start(options: Partial<ServerOptions>): Promise<RunningServer> {
  const {llm} = await createScriptedLlm();
  const loadModel: LoadModel = async () => ({llm, files: {displayName: 'tiny'}, templateSource: 'test'});
  const server = serverOptionsSchema.parse({port: 0, ...options});
  const context = {reporter: {report() {}}, logger: new RecordingLogger(), loadModel};
  running.push(await startServer({model: null, server, engine: engineOptionsSchema.parse({})}, context));
  return running.at(-1)!;
}

async function statusOf(request: ReturnType<typeof getPlain>): Promise<number | undefined> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('HTTPS', () => {
  it('serves with the given certificate', async () => {
    const {url} = await start({sslCertfile, sslKeyfile});
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const ca = await readFile(sslCertfile);
    expect(await statusOf(getSecure(`${url}/health`, {ca, agent: false}))).toBe(200);
  });

  it('asks clients for a certificate when that is required', async () => {
    const {url} = await start({sslCertfile, sslKeyfile, sslCaCerts: sslCertfile, sslCertReqs: 2});
    const [ca, key] = [await readFile(sslCertfile), await readFile(sslKeyfile)];
    await expect(statusOf(getSecure(`${url}/health`, {ca, agent: false}))).rejects.toThrow();
    expect(await statusOf(getSecure(`${url}/health`, {ca, cert: ca, key, agent: false}))).toBe(200);
  });

  it('takes a new certificate while it runs, and keeps the old one while files do not fit', async () => {
    const folder = await createTemporaryFolder();
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await copyFile(sslCertfile, certFile);
    await copyFile(sslKeyfile, keyFile);
    const replaced: unknown[] = [];
    const logger = new RecordingLogger();
    const settings = serverOptionsSchema.parse({sslCertfile: certFile, sslKeyfile: keyFile});
    const stop = startTlsRefresh({replaceTls: (tls) => replaced.push(tls)}, settings, logger, 20);
    await writeFile(certFile, 'no certificate');
    await expect.poll(() => logger.matching('stays as it was').length).toBeGreaterThan(0);
    expect(replaced).toEqual([]);
    await writeFile(certFile, await readFile(sslCertfile));
    await expect.poll(() => replaced.length).toBeGreaterThan(0);
    stop();
  });

  const wrongFiles: [string, Partial<ServerOptions>, string][] = [
    ['a key without certificate', {sslKeyfile}, '--ssl-keyfile needs --ssl-certfile'],
    ['a missing file', {sslCertfile: '/nope.pem'}, '--ssl-certfile: /nope.pem cannot be read'],
    ['a certificate without key', {sslCertfile}, 'do not work'],
  ];
  it.each(wrongFiles)('refuses %s', async (_name, options, message) => {
    const failure = await readTlsOptions(serverOptionsSchema.parse(options)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toContain(message);
  });
});

describe('a Unix socket', () => {
  it('is served in place of a port', async () => {
    const uds = join(await createTemporaryFolder(), 'server.sock');
    const {url} = await start({uds});
    expect(url).toBe(`unix:${uds}`);
    expect(await statusOf(getPlain({socketPath: uds, path: '/health', agent: false}))).toBe(200);
  });

  it('is not taken from a program that listens', async () => {
    const uds = join(await createTemporaryFolder(), 'server.sock');
    const holder = createServer().listen(uds);
    await once(holder, 'listening');
    await expect(start({uds})).rejects.toThrow('a program listens there');
    holder.close();
  });
});

describe('options that do not go together', () => {
  const refused: [Partial<ServerOptions>, string][] = [
    [{enableLogOutputs: true}, '--enable-log-outputs requires --enable-log-requests'],
    [{enablePerRequestMetrics: true, disableLogStats: true}, '--enable-per-request-metrics requires engine statistics'],
    [
      {reasoningEffortMap: {low: 1}},
      '--reasoning-effort-map must be a JSON object mapping reasoning efforts to strings.',
    ],
    [
      {reasoningEffortMap: {huge: 'max'}},
      "--reasoning-effort-map has unknown efforts ['huge']; keys must be one of ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].",
    ],
  ];
  it.each(refused)('keep the server from starting: %j', async (options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });
});
