/** The whole server in front of a vLLM deployment of three: one replica is killed in the middle of 64 streams. */
import {setTimeout as delay} from 'node:timers/promises';
import {afterEach, expect, it} from 'vitest';
import {deploymentOptionsSchema} from '../../../src/core/config/deployment-options.ts';
import {engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import {resolveModel} from '../../../src/core/model/resolve-model.ts';
import {loadTokenizer, type Tokenizer} from '../../../src/core/model/tokenizer.ts';
import {serverOptionsSchema} from '../../../src/server/server-config.ts';
import {type RunningServer, startServer} from '../../../src/server/start-server.ts';
import {eventData, postChat} from '../../support/chat-stream.ts';
import {FakeVllm, type FakeVllmOptions} from '../../support/fake-vllm.ts';
import {sampleOf} from '../../support/metrics-page.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';
import type {StreamChunk} from '../../support/sse-transcript.ts';
import {userSays} from '../../support/test-app.ts';

const numTokens = 40;
const numStreams = 64;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface ErrorEvent {
  error?: {message: string; type: string; code: number};
}

/** Streams as many tokens as are wanted, the digit of the replica again and again. */
function playing(replica: number, digitIds: readonly number[]): NonNullable<FakeVllmOptions['intercept']> {
  return (response) => {
    response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
    let numSent = 0;
    const timer = setInterval(() => {
      const finish_reason = ++numSent === numTokens ? 'length' : null;
      const choices = [{index: 0, finish_reason, stop_reason: null, token_ids: [digitIds[replica]], logprobs: null}];
      response.write(`data: ${JSON.stringify({request_id: 'x', usage: null, output_mode: 'tokens', choices})}\n\n`);
      if (finish_reason === null) return;
      clearInterval(timer);
      response.end('data: [DONE]\n\n');
    }, 15);
    response.once('close', () => clearInterval(timer));
    return true;
  };
}

async function startReplica(index: number, tokenizer: Tokenizer, port = 0): Promise<FakeVllm> {
  const digitIds = await Promise.all(
    ['0', '1', '2'].map(async (digit) => (await tokenizer.encode(digit, {addSpecialTokens: false}))[0]!),
  );
  return FakeVllm.start({
    port,
    names: ['served'],
    vocabSize: tokenizer.vocabSize,
    encode: (text) => tokenizer.encode(text, {addSpecialTokens: true}),
    intercept: playing(index, digitIds),
  });
}

async function startFront(urls: string[]): Promise<RunningServer> {
  const context = {reporter: {report() {}}, logger: new RecordingLogger()};
  const options = {
    model: null,
    server: serverOptionsSchema.parse({port: 0}),
    engine: engineOptionsSchema.parse({}),
    deployment: deploymentOptionsSchema.parse({engine: 'vllm', engineUrl: urls}),
  };
  const server = await startServer(options, context);
  closers.push(() => server.stop('end of the test'));
  return server;
}

/** The text of a stream, and the error event that ended it. */
async function readStream(url: string, index: number, onText: (text: string) => void) {
  const messages = userSays(`Request number ${index}: ${String(index).repeat(40)}`);
  const response = await postChat(url, {messages, stream: true, max_tokens: numTokens, temperature: 0});
  let [text, error, isDone] = ['', null as ErrorEvent['error'] | null, false];
  for await (const data of eventData(response)) {
    if (data === '[DONE]') isDone = true;
    else {
      const event = JSON.parse(data) as StreamChunk & ErrorEvent;
      if (event.error) error = event.error;
      else text += event.choices[0]?.delta.content ?? '';
      onText(text);
    }
  }
  return {text, error, isDone};
}

it('ends only the streams of a killed replica, and takes it back', async () => {
  const tokenizer = await loadTokenizer(await resolveModel(null));
  const replicas: FakeVllm[] = [];
  for (const index of [0, 1, 2]) replicas.push(await startReplica(index, tokenizer));
  for (const replica of replicas) closers.push(() => replica.kill());
  const {url, modelName} = await startFront(replicas.map((replica) => replica.url));
  expect(modelName).toBe('served');
  const texts: string[] = [];
  const runs = Array.from({length: numStreams}, (_, index) =>
    readStream(url, index, (text) => {
      texts[index] = text;
    }),
  );
  const numRunningOn = (digit: string) => texts.filter((text) => text?.startsWith(digit)).length;
  while (numRunningOn('1') < 10) await delay(5);
  await replicas[1]!.kill();
  const results = await Promise.all(runs);
  const lost = results.filter(({error}) => error !== null);
  expect(lost.length).toBeGreaterThanOrEqual(10);
  for (const {text, error, isDone} of lost) {
    expect(text).toMatch(/^1+$/);
    expect(error).toMatchObject({code: 500, message: 'The server had an error while processing your request.'});
    expect(isDone).toBe(true);
  }
  for (const {text, isDone} of results.filter(({error}) => error === null)) {
    expect(text).toMatch(new RegExp(`^(0{${numTokens}}|1{${numTokens}}|2{${numTokens}})$`));
    expect(isDone).toBe(true);
  }
  const upSample = 'parlance:engine_up{model_name="served",engine="1"}';
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(await sampleOf(url, upSample)).toBe('0');
  const again = await startReplica(1, tokenizer, replicas[1]!.port);
  closers.push(() => again.kill());
  while ((await sampleOf(url, upSample)) !== '1') await delay(50);
});
