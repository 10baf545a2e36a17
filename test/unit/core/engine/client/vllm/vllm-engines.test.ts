/** Our side of a vLLM deployment: what is refused at the start, failures in the middle, replicas that go and come back. */
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, it} from 'vitest';
import type {VllmDeployment} from '../../../../../../src/core/engine/client/vllm/start-vllm-engines.ts';
import type {SequenceOutput} from '../../../../../../src/core/engine/protocol.ts';
import {
  EngineDeadError,
  GenerationError,
  ModelError,
  OverloadedError,
  ValidationError,
} from '../../../../../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../../../../../support/build-engine.ts';
import {collect, collectUntilError} from '../../../../../support/collect.ts';
import {tokensIn} from '../../../../../support/engine-clients.ts';
import {enginesUp, fakeDeployment} from '../../../../../support/fake-deployment.ts';
import {greedyContinuation} from '../../../../../support/fake-model-runner.ts';
import type {FakeVllmOptions} from '../../../../../support/fake-vllm.ts';
import {until} from '../../../../../support/until.ts';

type Intercept = NonNullable<FakeVllmOptions['intercept']>;

const {serve, kill, connect} = fakeDeployment();

describe('the start', () => {
  it('takes names, context and version from the server', async () => {
    const server = await serve({names: ['big', 'big-alias'], maxModelLen: 1024});
    const {client} = await connect([server.url]);
    expect(client.info).toMatchObject({
      servedNames: ['big', 'big-alias'],
      maxModelLen: 1024,
      runtimeVersion: 'vLLM 0.33.0',
      device: 'remote',
    });
  });

  it('serves a shorter context than the server, not a longer one', async () => {
    const {url} = await serve({maxModelLen: 1024});
    expect((await connect([url], {maxModelLen: 512})).client.info.maxModelLen).toBe(512);
    await expect(connect([url], {maxModelLen: 2048})).rejects.toThrow(
      new ModelError(`--max-model-len 2048 is longer than the 1024 tokens that ${url} serves. Give at most 1024.`),
    );
  });

  it.each<[string, FakeVllmOptions, Partial<VllmDeployment>, RegExp]>([
    [
      'another tokenizer',
      {encode: () => [1, 2, 3]},
      {},
      /splits a text into 3 tokens, the tokenizer .* into \d+; token 0 is 1 there and 20 here/,
    ],
    [
      'a smaller vocabulary',
      {vocabSize: 32},
      {},
      /refuses token 63, but the vocabulary here has 64 tokens: .*Token id 63 is out of vocabulary/,
    ],
    ['a larger vocabulary', {vocabSize: 80}, {}, /takes token 64, but the vocabulary here has only 64 tokens/],
    [
      'a longer model',
      {maxModelLen: 8192},
      {},
      /serves sequences of 8192 tokens, but the model that was given here has 4096 positions/,
    ],
    [
      'a server without the token route',
      {takesTokens: false},
      {},
      /does not take token ids\. Start it with --enable-scale-out/,
    ],
    ['a server that wants a key', {apiKey: 'secret'}, {}, /asks for a key\. Give it with --engine-api-key/],
  ])('refuses %s, with the numbers', async (_name, options, deployment, message) => {
    const {url} = await serve(options);
    const starting = connect([url], deployment);
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toBeInstanceOf(ModelError);
  });

  it('refuses servers of different contexts', async () => {
    const [one, other] = [await serve({maxModelLen: 1024}), await serve({maxModelLen: 512})];
    await expect(connect([one.url, other.url])).rejects.toThrow(
      `${one.url} serves sequences of 1024 tokens, ${other.url} of 512.`,
    );
  });

  it('refuses when nobody answers', async () => {
    await expect(connect(['http://127.0.0.1:1'])).rejects.toThrow(/127\.0\.0\.1:1 cannot be reached: ECONNREFUSED/);
  });

  it('starts without a server that is not there yet, and takes it in later', async () => {
    const [here, later] = [await serve(), await serve()];
    await kill(later);
    const {client} = await connect([here.url, later.url]);
    expect(enginesUp(client)).toEqual([true, false]);
    await serve({port: later.port});
    await until(() => enginesUp(client)[1]!);
  });

  it.each([{prefix: '/models/a'}, {host: '::1'}])('shows the key, at %j', async (address) => {
    const server = await serve({apiKey: 'secret', ...address});
    const {client} = await connect([`${server.url}/`], {apiKey: 'secret'});
    const outputs = await collect(client.generate(engineRequest('a', [1, 2], {maxTokens: 3})));
    expect(tokensIn(outputs)).toEqual(greedyContinuation([1, 2], {maxTokens: 3}));
  });
});

describe('a request', () => {
  it('is taken out of the server when its reader leaves', async () => {
    const server = await serve({model: 'paced'});
    const {client} = await connect([server.url]);
    const stream = client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000}));
    await stream.next();
    expect(server.numOpenRequests()).toBe(1);
    await stream.return();
    await until(() => server.numOpenRequests() === 0);
  });

  it('uses a connection again', async () => {
    const server = await serve();
    const {client} = await connect([server.url]);
    const {numConnections} = server;
    for (let i = 0; i < 5; i++) await collect(client.generate(engineRequest(`r${i}`, fakePrompt(10, i))));
    expect(server.numConnections - numConnections).toBeLessThanOrEqual(1);
  });

  it('has logprobs with lowest numbers and names where the server counts none', async () => {
    const server = await serve();
    const {client} = await connect([server.url]);
    const [output] = await collect(
      client.generate(engineRequest('a', fakePrompt(6), {maxTokens: 1, logprobs: 0, promptLogprobs: 2})),
    );
    expect(output!.logprobs![0]).toHaveLength(1);
    expect(output!.promptLogprobs).toHaveLength(6);
  });

  it('begins with the prompt and one token where the answer comes whole', async () => {
    const server = await serve();
    const {client} = await connect([server.url]);
    const sampling = {maxTokens: 5, logprobs: 1, promptLogprobs: 1};
    const outputs = await collect(client.generate(engineRequest('a', fakePrompt(6), sampling)));
    expect(outputs.map(({newTokenIds}) => newTokenIds.length)).toEqual([1, 4]);
    expect(outputs.map(({logprobs}) => logprobs!.length)).toEqual([1, 4]);
    expect(outputs.map(({promptLogprobs}) => promptLogprobs?.length)).toEqual([6, undefined]);
    expect(outputs.map(({finishReason}) => finishReason)).toEqual([null, 'length']);
    expect(tokensIn(outputs)).toEqual(greedyContinuation(fakePrompt(6), {maxTokens: 5}));
  });

  const answering =
    (status: number, body: unknown): Intercept =>
    (response) => {
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
      return true;
    };
  const streaming =
    (...events: string[]): Intercept =>
    (response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'});
      response.end(events.map((event) => `data: ${event}\n\n`).join(''));
      return true;
    };
  const chunk = (fields: object) => JSON.stringify({choices: [{token_ids: [1], finish_reason: null, ...fields}]});
  const wireError = (code: number, message: string, param: string | null = null) => ({
    error: {message, type: 'x', param, code},
  });

  it.each<[string, Intercept, abstract new (...given: never[]) => Error, RegExp]>([
    ['a refusal', answering(400, wireError(400, 'top_k is wrong', 'top_k')), ValidationError, /^top_k is wrong$/],
    ['a busy server', answering(503, wireError(503, 'busy')), OverloadedError, /busy/],
    ['a broken server', answering(500, wireError(500, 'oh')), EngineDeadError, /failed: oh/],
    [
      'a failed request',
      answering(500, wireError(500, 'Internal server error')),
      GenerationError,
      /failed on the request/,
    ],
    ['a page of a proxy', answering(502, '<html>bad gateway</html>'), EngineDeadError, /bad gateway/],
    ['a request too large for a proxy', answering(413, '<html>too large</html>'), GenerationError, /status 413/],
    ['another model', answering(404, {detail: 'Not Found'}), EngineDeadError, /status 404: Not Found/],
    ['another key', answering(401, {error: 'Unauthorized'}), EngineDeadError, /status 401: Unauthorized/],
    ['a proxy that lets few through', answering(429, ''), OverloadedError, /no further words/],
    ['a page in place of a stream', answering(200, '<html>log in</html>'), EngineDeadError, /ended an answer without/],
    ['an error in the stream', streaming(JSON.stringify(wireError(400, 'no')), '[DONE]'), ValidationError, /^no$/],
    ['a stream without an end', streaming(chunk({})), EngineDeadError, /ended an answer without its end/],
    [
      'an end of the server',
      streaming(chunk({finish_reason: 'abort'}), '[DONE]'),
      EngineDeadError,
      /aborted a request/,
    ],
    ['what is no JSON', streaming('{"choices":'), EngineDeadError, /what is no JSON/],
    ['a choice without tokens', streaming(chunk({token_ids: null})), EngineDeadError, /without token ids/],
    ['tokens that are none', streaming(chunk({token_ids: [-1]})), EngineDeadError, /without token ids/],
    ['an unknown end', streaming(chunk({finish_reason: 'boredom'})), EngineDeadError, /unknown reason "boredom"/],
  ])('fails with %s', async (_name, intercept, errorClass, message) => {
    const server = await serve({intercept});
    const {client} = await connect([server.url]);
    const {error} = await collectUntilError(client.generate(engineRequest('a', [1, 2])));
    expect(error).toBeInstanceOf(errorClass);
    expect((error as Error).message).toMatch(message);
    expect(client.numOpenRequests()).toBe(0);
  });

  it('is given up when the server is silent for too long', async () => {
    const server = await serve({intercept: (response) => void response.writeHead(200).write(': \n') === undefined});
    const {client} = await connect([server.url], {timeoutSeconds: 1});
    const {error} = await collectUntilError(client.generate(engineRequest('a', [1, 2])));
    expect(error).toBeInstanceOf(EngineDeadError);
    expect(String(error)).toMatch(/UND_ERR_BODY_TIMEOUT/);
  });

  it('holds the server up while nobody reads', async () => {
    let numWritten = 0;
    const intercept: Intercept = (response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'});
      const event = `data: ${chunk({token_ids: Array.from({length: 64}, () => 1)})}\n\n`;
      const write = () => {
        while (numWritten < 100_000) {
          numWritten++;
          if (!response.write(event)) return void response.once('drain', write);
        }
        response.end(`data: ${chunk({finish_reason: 'stop'})}\n\ndata: [DONE]\n\n`);
      };
      write();
      return true;
    };
    const server = await serve({intercept});
    const {client} = await connect([server.url]);
    const stream = client.generate(engineRequest('a', [1, 2]));
    await stream.next();
    let last = -1;
    while (last !== numWritten) {
      last = numWritten;
      await delay(100);
    }
    expect(numWritten).toBeLessThan(100_000);
    let numTokens = 0;
    for await (const {newTokenIds} of stream) numTokens += newTokenIds.length;
    expect(numTokens).toBeGreaterThan(100_000 * 64 - 20_000);
  });
});

describe('replicas', () => {
  it('repeats a request without a token elsewhere', async () => {
    const [bad, good] = [await serve({intercept: (response) => Boolean(response.destroy())}), await serve()];
    const {client} = await connect([bad.url, good.url]);
    const outputs = await collect(client.generate(engineRequest('a', [1, 2], {maxTokens: 3})));
    expect(tokensIn(outputs)).toEqual(greedyContinuation([1, 2], {maxTokens: 3}));
    expect(outputs[0]!.engineIndex).toBe(1);
  });

  it('is out while it says that it is not well', async () => {
    const [ill, well] = [await serve({model: 'failing'}), await serve()];
    const {client, logger} = await connect([ill.url, well.url]);
    const {error} = await collectUntilError(
      client.generate(engineRequest('a', [1, 2], {maxTokens: 9}, {engineIndex: 0})),
    );
    expect(error).toBeInstanceOf(EngineDeadError);
    await until(() => !enginesUp(client)[0]!);
    expect(logger.matching('engine is out')[0]?.message).toContain('/health with status 503');
    expect(client.isAlive()).toBe(true);
  });

  it('does not take a server back that serves something else now', async () => {
    const [first, second] = [await serve(), await serve()];
    const {client} = await connect([first.url, second.url]);
    await kill(second);
    await until(() => !enginesUp(client)[1]!);
    const {port} = second;
    const other = await serve({port, maxModelLen: 512});
    await delay(200);
    expect(enginesUp(client)).toEqual([true, false]);
    await kill(other);
    await serve({port});
    await until(() => enginesUp(client)[1]!);
  });

  it('loses the running streams of a killed replica only, and takes it back', async () => {
    const replicas = await Promise.all([serve({model: 'paced'}), serve({model: 'paced'}), serve({model: 'paced'})]);
    const {client} = await connect(replicas.map(({url}) => url));
    const prompts = Array.from({length: 64}, (_, i) => fakePrompt(20, i));
    const seen: SequenceOutput[][] = prompts.map(() => []);
    const read = async (index: number) => {
      const stream = client.generate(engineRequest(`r${index}`, prompts[index]!, {maxTokens: 60}));
      for await (const output of stream) seen[index]!.push(output);
    };
    const runs = prompts.map((_, index) =>
      read(index).then(
        () => null,
        (error: unknown) => error,
      ),
    );
    const hasBegunOn = (engine: number) => seen.filter((outputs) => outputs[0]?.engineIndex === engine).length;
    await until(() => hasBegunOn(1) >= 4);
    const lost = new Set(prompts.flatMap((_, index) => (seen[index]![0]?.engineIndex === 1 ? [index] : [])));
    await kill(replicas[1]!);
    const errors = await Promise.all(runs);
    errors.forEach((error, index) => {
      if (error === null) {
        expect(tokensIn(seen[index]!)).toEqual(greedyContinuation(prompts[index]!, {maxTokens: 60}));
      } else {
        expect(error).toBeInstanceOf(EngineDeadError);
        expect(seen[index]!.map(({engineIndex}) => engineIndex)).toContain(1);
      }
    });
    const numFailed = errors.filter((error) => error !== null).length;
    expect(numFailed).toBeGreaterThan(0);
    expect(numFailed).toBeLessThan(40);
    expect([...lost].some((index) => errors[index] !== null)).toBe(true);
    await until(() => !enginesUp(client)[1]!);
    await serve({model: 'paced', port: replicas[1]!.port});
    await until(() => enginesUp(client)[1]!);
    const outputs = await collect(client.generate(engineRequest('new', [3], {maxTokens: 4}, {engineIndex: 1})));
    expect(tokensIn(outputs)).toEqual(greedyContinuation([3], {maxTokens: 4}));
  });
});
