/**
 * What `parlance bench` says of servers that cannot be reached or refuse, each in words of its own and with what to try,
 * and the addresses it takes: TLS, IPv6, paths before the endpoint, names and passwords, tokenizers by their id on the Hub.
 */
import {readFile} from 'node:fs/promises';
import {createServer, type RequestListener} from 'node:http';
import {type AddressInfo, createServer as createTcpServer} from 'node:net';
import {networkInterfaces} from 'node:os';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {startFakeHub} from '../support/fake-hub.ts';
import {type RawServerOptions, startRawStreamServer} from '../support/raw-stream-server.ts';
import {repositoryRoot, runProgram} from '../support/run-program.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const answer = {
  writes: [
    {afterMs: 5, bytes: event({choices: [{index: 0, delta: {content: 'a'}}], usage: {completion_tokens: 1}})},
    {afterMs: 5, bytes: event({choices: [{index: 0, delta: {content: 'b'}, finish_reason: 'stop'}]})},
    {afterMs: 0, bytes: `${event({choices: [], usage: {prompt_tokens: 8, completion_tokens: 2}})}data: [DONE]\n\n`},
  ],
};
const few = ['--num-prompts', '2', '--input-len', '8', '--output-len', '4', '--no-progress'];

async function rawServer(options: Partial<RawServerOptions> = {}) {
  const server = await startRawStreamServer({answers: {usual: answer}, ...options});
  onTestFinished(server.close);
  return server;
}

async function httpServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Lists models, and answers everything else with one status and body. */
function refusing(
  status: number,
  body: string,
  headers: Record<string, string> = {'content-type': 'application/json'},
) {
  return httpServer((request, response) => {
    request.resume();
    if (request.url === '/v1/models') return response.end(JSON.stringify({data: [{id: 'org/a'}, {id: 'org/b'}]}));
    response.writeHead(status, headers).end(body);
  });
}

const tlsFile = (name: string) => readFile(join(import.meta.dirname, '../support/tls', name));
const tlsServer = async () =>
  rawServer({tls: {cert: await tlsFile('localhost-cert.pem'), key: await tlsFile('localhost-key.pem')}});

/** What a person reads, without notes. */
async function errorOf(flags: readonly string[]): Promise<{code: number | null; error: string}> {
  const {code, stdout, stderr} = await runProgram(['bench', ...few, ...flags]);
  expect(stdout).toBe('');
  return {code, error: stderr.slice(stderr.indexOf('Error: '))};
}

describe('a server that cannot be measured is told, with what to try', () => {
  it.each([
    ['nobody listens', 'http://127.0.0.1:9', /ECONNREFUSED\nnothing listens at 127\.0\.0\.1:9: start the server/],
    ['there is no such host', 'http://nowhere.invalid:80', /(ENOTFOUND|EAI_AGAIN)\n.*nowhere\.invalid/],
  ])('%s', async (_name, url, expected) => {
    const {code, error} = await errorOf(['--url', url]);
    expect(code).toBe(1);
    expect(error).toMatch(expected);
  });

  it('a certificate that nobody vouches for', async () => {
    const {port} = await tlsServer();
    const {code, error} = await errorOf(['--url', `https://localhost:${port}`]);
    expect(code).toBe(1);
    expect(error).toMatch(/self-signed certificate\n.*--insecure accepts any/);
  });

  it('TLS where there is none, and none where there is', async () => {
    const plain = await refusing(200, '');
    const {error} = await errorOf(['--url', plain.replace('http:', 'https:')]);
    expect(error).toMatch(/\nthe server speaks no TLS/);
    const tls = await tlsServer();
    expect((await errorOf(['--url', `http://127.0.0.1:${tls.port}`])).error).toMatch(/\n.*https:\/\/$/m);
  });

  it('something that speaks no HTTP', async () => {
    const server = createTcpServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const {error} = await errorOf(['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    expect(error).toMatch(/\nwhat answers there speaks no HTTP: look at the port/);
  });

  it('a key that is missing, and one that is wrong', async () => {
    const url = await httpServer((request, response) => void response.writeHead(401).end(request.url));
    expect((await errorOf(['--url', url])).error).toMatch(
      /answers 401\nthe server wants a key: give it with --api-key/,
    );
    expect((await errorOf(['--url', url, '--api-key', 'wrong'])).error).toMatch(/\nthe server refuses the key/);
  });

  it('a model that the server has not', async () => {
    const message = 'The model `mine` does not exist.';
    const url = await refusing(404, JSON.stringify({error: {message}}));
    const {code, error} = await errorOf(['--url', url, '--model', 'mine']);
    expect(code).toBe(1);
    expect(error).toContain(`answers 404: ${message}\nthe server does not list mine, but org/a, org/b: choose`);
  });

  it('a path that the server has not', async () => {
    const {error} = await errorOf(['--url', await refusing(404, '{"detail": "Not Found"}')]);
    expect(error).toMatch(/answers 404: Not Found\nlook whether the server has \/v1\/chat\/completions: --endpoint/);
  });

  it('an endpoint that answers in one piece', async () => {
    const {error} = await errorOf(['--url', await refusing(200, '{"choices": []}')]);
    expect(error).toMatch(/answers with application\/json where a stream .*\n.*--backend http --whole-response/);
  });

  it('a redirect', async () => {
    const {error} = await errorOf(['--url', await refusing(308, '', {location: 'https://elsewhere/'})]);
    expect(error).toMatch(/answers 308: .*\nredirects are not followed/);
  });

  it('in a run, below the messages of the failures', async () => {
    const url = await refusing(429, '{"error": {"message": "slow down"}}', {'retry-after': '3'});
    const {code, stdout} = await runProgram(['bench', '--url', url, ...few]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^http_429 .*\n {2}slow down; retry after 3 s\n {2}-> .*--concurrency or --request-rate$/m);
  });
});

describe('addresses', () => {
  async function measure(url: string, flags: readonly string[] = []) {
    const {code, stdout, stderr} = await runProgram(['bench', '--url', url, ...few, '--json', ...flags]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown> & {environment: {server: string}};
  }

  it('may be those of TLS servers', async () => {
    const {port} = await tlsServer();
    const result = await measure(`https://localhost:${port}`, ['--insecure']);
    expect(result).toMatchObject({completed: 2, total_output_tokens: 4});
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({address}) => address === '::1'));
  it.skipIf(!hasIpv6)('may be IPv6', async () => {
    const {port} = await rawServer({host: '::1'});
    expect(await measure(`http://[::1]:${port}`)).toMatchObject({completed: 2});
  });

  it.each(['', '/v1', '/v1/', '/v1/chat/completions'])('may have a path before the endpoint: %s', async (rest) => {
    const {port} = await rawServer({prefix: '/proxy/llm'});
    expect(await measure(`http://127.0.0.1:${port}/proxy/llm${rest}`)).toMatchObject({completed: 2});
  });

  it('may hold a name and a password, which are shown nowhere', async () => {
    const server = await rawServer();
    const result = await measure(`http://me:s3cret%21@127.0.0.1:${server.port}`);
    const sent = new Set(server.requests.map(({headers}) => headers.authorization));
    expect([...sent]).toEqual([`Basic ${Buffer.from('me:s3cret!').toString('base64')}`]);
    expect(JSON.stringify(result)).not.toMatch(/s3cret|me:/);
  });
});

describe('requests', () => {
  it('do without what a strict server refuses: token counts', async () => {
    const server = await rawServer({refusedField: 'stream_options'});
    const {code, stderr} = await runProgram(['bench', '--url', `http://127.0.0.1:${server.port}`, ...few]);
    expect(code).toBe(0);
    expect(stderr).toContain('Note: the server refuses to tell token counts');
    expect(server.requests.filter(({body}) => 'stream_options' in body)).toHaveLength(2);
  });

  it('have prompts measured by a tokenizer of the Hub, which is fetched once', async () => {
    const model = join(repositoryRoot, 'models/smollm2-135m-instruct');
    const names = ['tokenizer.json', 'tokenizer_config.json', 'config.json'];
    const files = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(model, name))])),
    );
    const hub = await startFakeHub({'org/words': {files: {...files, 'model.safetensors': 'x'.repeat(5000)}}});
    onTestFinished(hub.close);
    const env = {HF_ENDPOINT: hub.url, HF_HOME: await createTemporaryFolder(), HF_HUB_OFFLINE: '0', HF_TOKEN: ''};
    const server = await rawServer();
    const flags = [...few, '--url', `http://127.0.0.1:${server.port}`, '--json', '--tokenizer'];
    const first = await runProgram(['bench', ...flags, 'org/words'], {env});
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({tokenizer_id: 'org/words', planned_input_tokens: 16});
    expect(hub.requests.filter((request) => request.includes('safetensors'))).toEqual([]);
    expect(first.stderr).toMatch(/^Note: Fetched tokenizer\.json 1\.8 MB$/m);
    const again = await runProgram(['bench', ...flags, 'org/words'], {env: {...env, HF_HUB_OFFLINE: '1'}});
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).not.toContain('Fetched');
    const unknown = await runProgram(['bench', ...flags, 'org/none'], {env});
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(
      /^Error: --tokenizer org\/none cannot be used: .*\n.*an id on the Hugging Face Hub/m,
    );
  });
});

describe('whole responses', () => {
  const whole = ['--backend', 'http', '--whole-response', '--concurrency', '2', '--json'];

  it('are failures when they are no JSON, or never come', async () => {
    const html = await refusing(200, '<p>Welcome</p>', {'content-type': 'text/html'});
    const first = await runProgram(['bench', '--url', html, ...few, ...whole]);
    expect(first.code).toBe(1);
    expect(JSON.parse(first.stdout)).toMatchObject({
      failed: 2,
      failures: {malformed: {count: 2, examples: ['The answer is no JSON: <p>Welcome</p>']}},
    });
    const silent = await httpServer((request, response) => {
      if (!request.url?.endsWith('completions')) response.end(JSON.stringify({data: [{id: 'org/a'}]}));
    });
    const second = await runProgram(['bench', '--url', silent, ...few, ...whole, '--request-timeout', '1']);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout)).toMatchObject({completed: 0, failures: {timeout_total: expect.anything()}});
  });
});
