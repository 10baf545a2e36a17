/**
 * Faults that people reported of other servers (cases PR-*, public reports), on ours with the embedded model, over real
 * sockets. Those that need an answer of a given text are in test/unit/server/reported-*.test.ts.
 */
import {request as httpRequest} from 'node:http';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {capitalQuestion, longQuestion} from '../support/chat-stream.ts';
import {type Chunk, type Fields, foldAnswer, tools} from '../support/reported-cases.ts';
import {runProgram} from '../support/run-program.ts';
import {type ServeProcess, type StartServeOptions, startServe} from '../support/serve-process.ts';
import {sseEvents} from '../support/sse-transcript.ts';

const base = {messages: [{role: 'user', content: 'Say hello.'}], temperature: 0, max_tokens: 16};
const firstKey = 'key-one';
const secondKey = 'key-two';

interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** Empty when the answer is no JSON. */
  body: Fields & {error?: {message: string; type: string; param: string | null; code: number}; usage?: Fields};
}

/** A server and ways to ask it, with its key. */
class Client {
  readonly server: ServeProcess;
  readonly #key: string;

  constructor(server: ServeProcess, key = firstKey) {
    this.server = server;
    this.#key = key;
  }

  async send(path: string, init: RequestInit = {}): Promise<Reply> {
    const headers = {authorization: `Bearer ${this.#key}`, ...(init.headers as Record<string, string>)};
    const response = await fetch(`${this.server.url}${path}`, {...init, headers});
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {}};
  }

  post(path: string, body: object | string, headers: Record<string, string> = {}): Promise<Reply> {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send(path, {method: 'POST', headers: {'content-type': 'application/json', ...headers}, body: payload});
  }

  chat(fields: Fields = {}, headers?: Record<string, string>): Promise<Reply> {
    return this.post('/v1/chat/completions', {...base, ...fields}, headers);
  }

  async stream(fields: Fields = {}): Promise<Chunk[]> {
    return sseEvents<Chunk>((await this.chat({...fields, stream: true})).text);
  }
}

type Choice = {message: {content: string; tool_calls?: Fields[]}; logprobs: Logprobs; finish_reason: string};
interface Logprobs {
  content: {token: string; logprob: number; bytes: number[]; top_logprobs: {token: string; logprob: number}[]}[];
}

function choiceOf(reply: Reply): Choice {
  expect(reply.status, reply.text).toBe(200);
  return (reply.body.choices as Choice[])[0]!;
}

const textOf = (reply: Reply) => choiceOf(reply).message.content;
const words = (count: number) => [{role: 'user', content: Array.from({length: count}, () => 'word').join(' ')}];

/** An error in our form, whose parameter or message names the field where one is given. */
function isError(reply: Reply, status: number, field = ''): void {
  expect(reply.status, reply.text).toBe(status);
  const {message, param, code} = reply.body.error!;
  expect(Object.keys(reply.body.error!)).toEqual(['message', 'type', 'param', 'code']);
  expect(code).toBe(status);
  expect(`${param} ${message}`).toContain(field);
  expect(reply.text).not.toMatch(/FST_|\n {4}at /);
}

const started: ServeProcess[] = [];

async function start(options: StartServeOptions): Promise<ServeProcess> {
  const server = await startServe(options);
  started.push(server);
  return server;
}

let client: Client;

beforeAll(async () => {
  const names = ['--served-model-name', 'm', 'gpt-4o'];
  const parsers = ['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'];
  const told = ['--enable-request-id-headers', '--enable-log-requests', '--enable-prompt-tokens-details'];
  const keys = ['--api-key', firstKey, secondKey];
  client = new Client(await start({argv: [...names, ...parsers, ...told, ...keys, '--max-model-len', '2048']}));
});

afterAll(async () => {
  for (const server of started) expect(await server.stop()).toEqual({code: 0, signal: null});
});

describe('the API', () => {
  it('PR-api-12: metrics count every request', async () => {
    const replies = [await client.chat(), await client.chat()];
    const chunks = await client.stream({stream_options: {include_usage: true}});
    const usages = [...replies.map(({body}) => body.usage!), chunks.at(-1)!.usage!] as Record<string, number>[];
    const {text, headers} = await client.send('/metrics');
    const value = (name: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(value('vllm:request_success_total')).toBe(3);
    expect(value('vllm:time_to_first_token_seconds_count')).toBe(3);
    expect(value('vllm:e2e_request_latency_seconds_count')).toBe(3);
    const total = (key: string) => usages.reduce((sum, usage) => sum + usage[key]!, 0);
    expect(value('vllm:prompt_tokens_total')).toBe(total('prompt_tokens'));
    expect(value('vllm:generation_tokens_total')).toBe(total('completion_tokens'));
    expect(text).toContain('model_name="m"');
    expect(text).not.toMatch(/="(undefined)?"[,}]/);
  });

  it('PR-api-01: logprobs without alternatives', async () => {
    const {content} = choiceOf(await client.chat({logprobs: true})).logprobs;
    for (const entry of content) {
      expect(entry).toEqual({
        token: expect.any(String),
        logprob: expect.any(Number),
        bytes: expect.any(Array),
        top_logprobs: [],
      });
    }
  });

  it('PR-api-02, -03: known fields are not called unknown, unknown ones are named once', async () => {
    await client.stream({logprobs: true, top_logprobs: 5});
    const extra = {store: true, metadata: {k: 'v'}, user: 'u1', not_a_field: 1};
    const messages = [{role: 'user', name: 'ana', content: 'Say hello.'}];
    for (let count = 0; count < 2; count++) choiceOf(await client.chat({...extra, messages}));
    const ignored = client.server.logMessages().filter((message) => /ignore|unknown/i.test(message));
    expect(ignored.filter((message) => message.includes('top_logprobs'))).toEqual([]);
    expect(ignored.filter((message) => message.includes('not_a_field')).length).toBeLessThanOrEqual(1);
  });

  it('PR-api-04, -06: a prompt that is too long is the same error whole and streamed, with both numbers', async () => {
    const messages = words(3000);
    const [whole, streamed] = [await client.chat({messages}), await client.chat({messages, stream: true})];
    for (const reply of [whole, streamed]) {
      expect(reply.status).toBe(400);
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      expect(reply.body.error).toMatchObject({type: 'BadRequestError', param: expect.any(String)});
      expect(reply.body.error!.message).toContain('2048');
      // As the reference: counting ends at the first token too many.
      expect(reply.body.error!.message).toContain('at least 2049 input tokens');
    }
    expect(streamed.body).toEqual(whole.body);
  });

  it('PR-api-07: each name of the model, no other, and none', async () => {
    expect((await client.chat({model: 'gpt-4o'})).status).toBe(200);
    const other = await client.chat({model: 'nope'});
    isError(other, 404, 'model');
    expect(other.body.error!.type).toBe('NotFoundError');
    expect((await client.chat()).status).toBe(200);
  });

  it('PR-api-08: two slashes are one, or a 404 in our form', async () => {
    for (const reply of [await client.send('/v1//models'), await client.post('/v1//chat/completions', base)]) {
      expect([200, 404]).toContain(reply.status);
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  it('PR-api-10: the id of the header is found in the log', async () => {
    const id = (await client.chat()).headers.get('x-request-id')!;
    expect(id).toMatch(/\S/);
    await client.server.logged(new RegExp(id));
  });

  it('PR-api-11: metrics with and without a slash', async () => {
    for (const path of ['/metrics', '/metrics/']) {
      const {status, headers} = await client.send(path, {redirect: 'manual'});
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-type')).toMatch(/^text\/plain/);
    }
  });

  it.each([
    ['a broken body', '{"model":', 'application/json'],
    ['an empty body', '', 'application/json'],
    ['another type', JSON.stringify(base), 'text/plain'],
  ])('PR-api-14: %s is an error in our form', async (_name, body, type) => {
    const reply = await client.post('/v1/chat/completions', body, {'content-type': type});
    expect([400, 415]).toContain(reply.status);
    isError(reply, reply.status);
  });

  it('PR-streaming-07: every stream has one end', async () => {
    for (const max_tokens of [1, 5, 40]) {
      const chunks = await client.stream({max_tokens, temperature: 1});
      const reasons = chunks.flatMap(({choices}) => choices).map((choice) => choice.finish_reason);
      expect(reasons.filter((reason) => reason !== null)).toHaveLength(1);
    }
  });

  it('PR-cli-03: every key works, and none is shown', async () => {
    expect((await new Client(client.server, secondKey).chat()).status).toBe(200);
    expect((await new Client(client.server, 'other').chat()).status).toBe(401);
    expect(client.server.stderr()).not.toMatch(new RegExp(`${firstKey}|${secondKey}`));
  });
});

describe('tokens', () => {
  it('PR-tokenizer-01: bytes of the entries are the bytes of the content', async () => {
    const choice = choiceOf(await client.chat({messages: [{role: 'user', content: 'Repeat: ♩ ♩ ♩'}], logprobs: true}));
    const bytes = Buffer.from(choice.logprobs.content.flatMap((entry) => entry.bytes)).toString('utf8');
    expect(bytes.replace(/<\|im_end\|>$/, '')).toBe(choice.message.content);
  });

  it('PR-tokenizer-02, -03: alternatives can be told apart, special ones too', async () => {
    const fields = {logprobs: true, top_logprobs: 20, return_tokens_as_token_ids: true};
    const {content} = choiceOf(await client.chat({...fields, messages: [{role: 'user', content: ' '}]})).logprobs;
    for (const {top_logprobs} of content) {
      expect(top_logprobs).toHaveLength(20);
      expect(new Set(top_logprobs.map(({token}) => token)).size).toBe(20);
    }
  });

  it('PR-tokenizer-04: each entry of the prompt is its token alone', async () => {
    const {body} = await client.chat({prompt_logprobs: 1, max_tokens: 1});
    const [first, ...rest] = body.prompt_logprobs as (Record<string, {decoded_token: string}> | null)[];
    expect(first).toBeNull();
    expect(rest.every((entry) => Object.values(entry!).every(({decoded_token}) => decoded_token.length < 20))).toBe(
      true,
    );
    expect(rest).toHaveLength((body.usage!.prompt_tokens as number) - 1);
  });

  it.each(['a'.repeat(100_000), '_'.repeat(50_000)])('PR-tokenizer-05: a long run of one sign', async (content) => {
    let isAnswered = false;
    const asked = client.post('/tokenize', {prompt: content}).finally(() => {
      isAnswered = true;
    });
    expect((await client.send('/health')).status).toBe(200);
    expect(isAnswered, 'the process was blocked until the text was read').toBe(false);
    expect((await asked).status).toBe(200);
  });
});

describe('sampling', () => {
  const warm = {messages: longQuestion, temperature: 1, max_tokens: 40};

  it('PR-sampling-02: a seed gives the same answer, alone and amid others', async () => {
    const alone = [textOf(await client.chat({...warm, seed: 7})), textOf(await client.chat({...warm, seed: 7}))];
    const others = Array.from({length: 8}, (_, seed) => client.chat({...warm, seed: 100 + seed}));
    const amid = textOf(await client.chat({...warm, seed: 7}));
    await Promise.all(others);
    expect(new Set([...alone, amid]).size).toBe(1);
    expect(textOf(await client.chat({...warm, seed: 8}))).not.toBe(amid);
  });

  it('PR-sampling-03: no limit of candidates unless one is asked for', async () => {
    for (const top_k of [undefined, 0, -1]) {
      const texts = [1, 2, 3].map((seed) =>
        client.chat({...warm, temperature: 1.5, seed, ...(top_k !== undefined && {top_k})}),
      );
      expect(new Set((await Promise.all(texts)).map(textOf)).size).toBe(3);
    }
  });

  it('PR-sampling-04: reported probabilities are those before any filter', async () => {
    const ask = async (top_p: number) =>
      choiceOf(await client.chat({max_tokens: 1, logprobs: true, top_logprobs: 3, top_p})).logprobs.content[0]!
        .top_logprobs;
    expect(await ask(0.5)).toEqual(await ask(1));
  });

  it.each([
    [{logit_bias: {'99999999': 5}}, 'logit_bias'],
    [{logit_bias: {hello: 5}}, 'logit_bias'],
    [{logit_bias: {'5': 'x'}}, 'logit_bias'],
    [{top_p: 0}, 'top_p'],
    [{top_p: 1.5}, 'top_p'],
    [{min_p: 2}, 'min_p'],
    [{frequency_penalty: 100}, 'frequency_penalty'],
    [{presence_penalty: -3}, 'presence_penalty'],
    [{top_k: -2}, 'top_k'],
    [{temperature: -1}, 'temperature'],
    [{logprobs: true, top_logprobs: 25}, 'logprobs'],
    [{stream: false, stream_options: {include_usage: true}}, 'stream_options'],
    [{n: 'x'}, 'body.n'],
  ] as [Fields, string][])('PR-sampling-06 to -09: %j names its field', async (fields, field) => {
    isError(await client.chat(fields), 400, field);
    expect((await client.chat()).status).toBe(200);
  });

  it('PR-sampling-10: an ignored end does not end', async () => {
    const reply = await client.chat({ignore_eos: true, max_tokens: 50});
    expect(choiceOf(reply).finish_reason).toBe('length');
    expect(reply.body.usage!.completion_tokens).toBe(50);
  });
});

describe('constraints', () => {
  const schemaFormat = (schema: unknown) => ({
    response_format: {type: 'json_schema', json_schema: {name: 's', strict: true, schema}},
  });

  it.each([
    ['PR-structured-01', schemaFormat({type: 'string', pattern: '^(unclosed'})],
    ['PR-structured-02', schemaFormat({type: 'not-a-type'})],
    ['PR-structured-02', schemaFormat({type: 'object', properties: 5})],
    ['PR-structured-03', {structured_outputs: {regex: '(['}}],
    ['PR-structured-03', {structured_outputs: {grammar: 'root ='}}],
  ] as [string, Fields][])('%s: %j is refused, and the next request works', async (_case, fields) => {
    const reply = await client.chat(fields);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body.error!.message).toMatch(/\S/);
    expect((await client.chat()).status).toBe(200);
  });

  it('PR-structured-02: a reference to itself works or is refused', async () => {
    expect([200, 400]).toContain((await client.chat(schemaFormat({$ref: '#'}))).status);
  });

  it('PR-structured-04: one that cannot be built fails alone', async () => {
    const streams = [1, 2, 3].map(() => client.stream({messages: longQuestion, max_tokens: 60, ignore_eos: true}));
    const huge = await client.chat({structured_outputs: {regex: '((a{1,1000}){1,1000}){1,1000}'}});
    expect([200, 400]).toContain(huge.status);
    for (const chunks of await Promise.all(streams)) expect(foldAnswer(chunks).finishReason).toBe('length');
  });

  it('PR-structured-05: the empty schema ends', async () => {
    const reply = await client.chat({structured_outputs: {json: {}}, temperature: 1, seed: 3, max_tokens: 400});
    if (choiceOf(reply).finish_reason === 'stop') JSON.parse(textOf(reply));
    expect(textOf(reply)).not.toMatch(/\d{60}/);
  });

  it('PR-structured-06: choices with their probabilities', async () => {
    const choice = choiceOf(
      await client.chat({structured_outputs: {choice: ['yes', 'no']}, logprobs: true, top_logprobs: 2}),
    );
    expect(['yes', 'no']).toContain(choice.message.content);
    for (const {logprob} of choice.logprobs.content) expect(Number.isFinite(logprob)).toBe(true);
  });

  it('PR-structured-07: a cut answer under a constraint spoils no other', async () => {
    const before = textOf(await client.chat());
    const json = {response_format: {type: 'json_object'}, max_tokens: 3};
    await client.chat(json);
    expect(textOf(await client.chat())).toBe(before);
    const [, beside] = await Promise.all([client.chat(json), client.chat()]);
    expect(textOf(beside!)).toBe(before);
  });

  it('PR-structured-08: tools beside a schema: a call, or an answer by the schema', async () => {
    const schema = {type: 'object', properties: {ok: {type: 'boolean'}}, required: ['ok'], additionalProperties: false};
    const reply = await client.chat({tools, ...schemaFormat(schema), max_tokens: 60});
    if (reply.status === 400) return expect(reply.body.error!.message).toMatch(/tool/);
    const {message} = choiceOf(reply);
    if (!message.tool_calls?.length) expect(Object.keys(JSON.parse(message.content))).toEqual(['ok']);
  });

  it('PR-structured-09: the words of a description do not touch the constraint', async () => {
    const description = 'say "root ::= x" \\ and\na line break';
    const parameters = {
      type: 'object',
      properties: {city: {type: 'string', description, maxLength: 12}},
      required: ['city'],
    };
    const described = [{type: 'function', function: {name: 'get_weather', description, parameters, strict: true}}];
    const reply = await client.chat({
      tools: described,
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_tokens: 120,
    });
    const [call] = choiceOf(reply).message.tool_calls as {function: {arguments: string}}[];
    expect(JSON.parse(call!.function.arguments)).toEqual({city: expect.any(String)});
  });

  it('PR-structured-10: arrays of three without white space', async () => {
    const schema = {
      type: 'object',
      properties: {items: {type: 'array', items: {enum: ['a', 'b']}, minItems: 3, maxItems: 5}},
      required: ['items'],
      additionalProperties: false,
    };
    const reply = await client.chat({structured_outputs: {json: schema, disable_any_whitespace: true}, max_tokens: 60});
    expect(JSON.parse(textOf(reply)).items.length).toBeGreaterThanOrEqual(3);
  });
});

describe('reuse and leaving', () => {
  it('PR-engine-01: prompts of 5, 50 and 200 words at once are answered as each alone', async () => {
    const ask = (count: number) => client.chat({messages: words(count), max_tokens: 12});
    const alone: string[] = [];
    for (const count of [5, 50, 200]) alone.push(textOf(await ask(count)));
    expect((await Promise.all([5, 50, 200].map(ask))).map(textOf)).toEqual(alone);
  });

  it('PR-engine-11: later turns reuse what was computed, and answer the same', async () => {
    const system = {
      role: 'system',
      content: Array.from({length: 600}, (_, index) => `rule ${index}`)
        .join(', ')
        .slice(0, 2500),
    };
    const turn = async (fields: Fields = {}) =>
      client.chat({messages: [system, ...capitalQuestion], max_tokens: 8, ...fields});
    const first = await turn();
    const second = await turn();
    const cached = (reply: Reply) =>
      (reply.body.usage!.prompt_tokens_details as {cached_tokens: number} | null)?.cached_tokens ?? 0;
    expect(cached(first)).toBeLessThan(100);
    expect(cached(second)).toBeGreaterThan(500);
    expect(textOf(second)).toBe(textOf(first));
    expect(cached(await turn({cache_salt: 'mine'}))).toBe(0);
  });

  it('PR-reliability-01: the work of clients that leave stops', async () => {
    const running = async () =>
      /^vllm:num_requests_running\{.*\} (\d+)$/m.exec((await client.send('/metrics')).text)![1];
    for (const stream of [true, false]) {
      const leave = new AbortController();
      const body = JSON.stringify({...base, messages: longQuestion, max_tokens: 1500, ignore_eos: true, stream});
      const asked = fetch(`${client.server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {'content-type': 'application/json', authorization: `Bearer ${firstKey}`},
        body,
        signal: leave.signal,
      }).then((response) => response.text());
      await expect.poll(running, {timeout: 10_000}).toBe('1');
      leave.abort();
      await expect(asked).rejects.toThrow();
      await expect.poll(running, {timeout: 10_000}).toBe('0');
    }
  });
});

describe('hostile requests', () => {
  it('PR-security-03: huge headers', async () => {
    const many = Object.fromEntries(Array.from({length: 5000}, (_, index) => [`x-h-${index}`, '1']));
    for (const headers of [{'x-big': 'a'.repeat(1_000_000)}, many]) {
      const status = await rawStatus(headers);
      expect([400, 431]).toContain(status);
    }
    expect((await client.chat()).status).toBe(200);
  });

  /** Status of a request with these headers; 431 also where the connection was closed on it. */
  function rawStatus(headers: Record<string, string>): Promise<number> {
    return new Promise((settle) => {
      const {hostname, port} = new URL(client.server.url);
      const sent = httpRequest({hostname, port, path: '/health', headers}, (response) => {
        response.resume();
        settle(response.statusCode!);
      });
      sent.on('error', () => settle(431));
      sent.end();
    });
  }

  it('PR-security-05: patterns and schemas that explode are done or refused soon', async () => {
    let nested: Fields = {type: 'string'};
    for (let depth = 0; depth < 500; depth++) nested = {type: 'array', items: nested};
    const many = {enum: Array.from({length: 10_000}, (_, index) => `value-${index}`)};
    const constraints = [{regex: '(a+)+$'}, {regex: '(a{1,1000}){1,1000}'}, {json: nested}, {json: many}];
    for (const structured_outputs of constraints) {
      const asked = client.chat({structured_outputs, max_tokens: 4});
      expect((await client.send('/health')).status).toBe(200);
      expect([200, 400]).toContain((await asked).status);
    }
  });

  it('PR-security-06: refused requests do not end a stream', async () => {
    const stream = client.stream({messages: longQuestion, max_tokens: 60, ignore_eos: true});
    const refused = [
      {n: 'x'},
      {top_p: 7},
      {messages: []},
      {messages: 'x'},
      {stop: 5},
      {structured_outputs: {regex: '['}},
    ];
    for (const fields of refused) isError(await client.chat(fields), 400);
    expect(foldAnswer(await stream).finishReason).toBe('length');
  });
});

describe('servers with other options', () => {
  it('PR-sampling-01, PR-api-05, -09, PR-cli-05: defaults, limits and the key of the environment', async () => {
    const override = ['--override-generation-config', '{"temperature":0,"max_new_tokens":7}'];
    const server = await start({argv: ['--max-model-len', '128', ...override], env: {VLLM_API_KEY: 'secret-abc'}});
    const other = new Client(server, 'secret-abc');
    expect((await new Client(server, '').chat()).status).toBe(401);
    const log = server.stderr();
    expect(log).toMatch(/VLLM_API_KEY/);
    expect(log).not.toContain('secret-abc');
    for (const word of [/smollm2/i, /cpu/i, /128/, /temperature/]) expect(log).toMatch(word);
    const {messages} = base;
    const [once, twice] = [
      await other.post('/v1/chat/completions', {messages}),
      await other.post('/v1/chat/completions', {messages, max_tokens: 100}),
    ];
    for (const reply of [once, twice]) expect(reply.body.usage!.completion_tokens).toBeLessThanOrEqual(7);
    expect(textOf(twice)).toBe(textOf(once));
  });

  it('PR-engine-07: a device that is not there is refused, and auto says why it takes the processor', async () => {
    const env = {VK_ICD_FILENAMES: '/nowhere', VK_DRIVER_FILES: '/nowhere'};
    const {code, stderr} = await runProgram(['serve', '--port', '0', '--device', 'webgpu', '--log-level', 'error'], {
      env,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: --device webgpu cannot be used: [^\n]+\n$/);
    const server = await start({argv: ['--max-model-len', '128', '--device', 'auto'], env});
    expect(server.stderr()).toMatch(/cpu \([^)]+\) with \d+ threads?/);
  });

  it.skipIf(process.platform !== 'linux')('PR-engine-08: one core of several is one thread', async () => {
    const pin =
      "import {execFileSync} from 'node:child_process'; execFileSync('taskset', ['-apc', '0', String(process.pid)]);";
    const env = {NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(pin)}`};
    const server = await start({argv: ['--max-model-len', '128'], env});
    expect(server.stderr()).toMatch(/ with 1 thread"/);
    expect(server.stderr()).not.toMatch(/affinity/i);
  });

  it('PR-template-11: templates as files and as text, and one that is not there', async () => {
    const template = '{% for m in messages %}{{ m.content }}{% endfor %}';
    const server = await start({argv: ['--max-model-len', '256', '--chat-template', template]});
    expect((await new Client(server).chat()).status).toBe(200);
    const {code, stderr} = await runProgram(['serve', '--port', '0', '--chat-template', './missing.jinja']);
    expect(code).toBe(2);
    expect(stderr).toContain('missing.jinja');
  });
});
