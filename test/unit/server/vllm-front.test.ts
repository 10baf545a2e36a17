/**
 * The whole server in front of a vLLM deployment of three: one replica is killed in the middle of 64 streams, and clients
 * leave by the hundred.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {afterEach, expect, it} from 'vitest';
import {deploymentOptionsSchema} from '../../../src/core/config/deployment-options.ts';
import {engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import {serverOptionsSchema} from '../../../src/server/server-config.ts';
import {type RunningServer, startServer} from '../../../src/server/start-server.ts';
import {eventData, postChat} from '../../support/chat-stream.ts';
import {embeddedTokenizer} from '../../support/embedded-model.ts';
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

/** Answers that replicas are writing. */
let numAtReplicas = 0;

/** Streams as many tokens as are wanted, the digit of the replica again and again. */
function playing(replica: number, digitIds: readonly number[]): NonNullable<FakeVllmOptions['intercept']> {
  return (response) => {
    numAtReplicas++;
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
    response.once('close', () => {
      clearInterval(timer);
      numAtReplicas--;
    });
    return true;
  };
}

async function startReplica(index: number, port = 0): Promise<FakeVllm> {
  const tokenizer = await embeddedTokenizer();
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

async function startReplicas(): Promise<FakeVllm[]> {
  const replicas = await Promise.all([0, 1, 2].map((index) => startReplica(index)));
  for (const replica of replicas) closers.push(() => replica.kill());
  return replicas;
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

it('ends only the streams of a killed replica, and takes it back', {timeout: 60_000}, async () => {
  const replicas = await startReplicas();
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
  const again = await startReplica(1, replicas[1]!.port);
  closers.push(() => again.kill());
  while ((await sampleOf(url, upSample)) !== '1') await delay(50);
});

/** A request whose client leaves after a while, often before the first token. */
async function askAndLeave(url: string, lane: number, round: number): Promise<void> {
  const leave = new AbortController();
  const timer = setTimeout(() => leave.abort(), (lane * 7 + round * 13) % 60);
  const messages = userSays(`${lane} ${round} ${String(lane).repeat(40)}`);
  const body = {messages, stream: lane % 2 === 0, n: 1 + (round % 3), max_tokens: numTokens, temperature: 0.5};
  await postChat(url, body, leave.signal)
    .then((response) => response.text())
    .catch((error: Error) => expect(error.name).toBe('AbortError'));
  clearTimeout(timer);
}

it('forgets nobody when clients leave by the hundred and a replica comes and goes', {timeout: 60_000}, async () => {
  const replicas = await startReplicas();
  const {url, llm} = await startFront(replicas.map((replica) => replica.url));
  const lanes = Array.from({length: numStreams}, async (_, lane) => {
    for (let round = 0; round < 4; round++) await askAndLeave(url, lane, round);
  });
  await delay(100);
  await replicas[2]!.kill();
  const again = await startReplica(2, replicas[2]!.port);
  closers.push(() => again.kill());
  await Promise.all(lanes);
  await expect.poll(() => [llm.numOpenRequests(), numAtReplicas], {timeout: 5000}).toEqual([0, 0]);
  const samplesOf = (name: string) =>
    Promise.all([0, 1, 2].map((engine) => sampleOf(url, `${name}{model_name="served",engine="${engine}"}`)));
  await expect.poll(() => samplesOf('parlance:engine_up'), {timeout: 10_000}).toEqual(['1', '1', '1']);
  expect(await samplesOf('vllm:num_requests_running')).toEqual(['0', '0', '0']);
  expect(await samplesOf('vllm:num_requests_waiting')).toEqual(['0', '0', '0']);
  const answers = await Promise.all(Array.from({length: 12}, (_, index) => readStream(url, index, () => {})));
  for (const {text, error} of answers) {
    expect(error).toBeNull();
    expect(text).toMatch(new RegExp(`^([012])\\1{${numTokens - 1}}$`));
  }
});
