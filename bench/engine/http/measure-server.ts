/**
 * Everything that is measured through HTTP. The server gets each conversation once, so its prefix cache can only help
 * with the head of the chat template, and with the second turn of a chat, which is what that figure is for.
 */
import {treeCpuMs, treePeakMemoryBytes} from '../process/proc-files.ts';
import {type Message, type ServerPrompts, secondQuestion} from '../prompts.ts';
import {medianSample, type Sample, type Samples} from '../samples.ts';
import {gaps, median} from '../statistics.ts';
import type {Workload} from '../workload.ts';
import {firstTokenMs, type StreamedAnswer, streamChat} from './sse-client.ts';

export interface ServerUnderTest {
  url: string;
  /** Root of the server's processes. */
  pid: number;
  /** Most prompt tokens of one forward pass. */
  chunkTokens: number;
}

export interface ServerResult {
  samples: Samples;
  /** Prompt tokens of all answers, in the order asked. Equal on both sides when both render and tokenize alike. */
  numPromptTokens: number[];
}

export async function measureServer(
  server: ServerUnderTest,
  workload: Workload,
  prompts: ServerPrompts,
): Promise<ServerResult> {
  const probe = new ServerProbe(server);
  await probe.ask(warmUp, 4);
  const samples: Samples = {...(await measureChats(probe, workload, prompts.chats))};
  for (const streams of workload.streams) {
    Object.assign(samples, await measureBursts(probe, streams, workload, prompts.bursts.get(streams)!));
  }
  const {pause, stepMs} = await measurePause(probe, workload, prompts);
  const chunkShare = Math.min(1, server.chunkTokens / workload.chatPromptTokens);
  const chunkMs = samples['http-first-turn'].value * chunkShare;
  samples['http-pause'] = pause;
  samples['http-chunk'] = {value: chunkMs + stepMs, cpuMsPerToken: null};
  samples['http-memory'] = {value: treePeakMemoryBytes(server.pid) / 1e6, cpuMsPerToken: null};
  return {samples, numPromptTokens: probe.numPromptTokens};
}

const warmUp: Message[] = [{role: 'user', content: 'Hello.'}];

/** Asks one server and watches its CPU time. */
class ServerProbe {
  readonly #server: ServerUnderTest;
  readonly numPromptTokens: number[] = [];

  constructor(server: ServerUnderTest) {
    this.#server = server;
  }

  async ask(messages: Message[], maxTokens: number, onChunk?: (count: number) => void): Promise<StreamedAnswer> {
    const index = this.numPromptTokens.push(0) - 1;
    const answer = await streamChat(this.#server.url, messages, {maxTokens, ...(onChunk && {onChunk})});
    this.numPromptTokens[index] = answer.numPromptTokens;
    return answer;
  }

  /** @returns a function that gives the CPU milliseconds since */
  watchCpu(): () => number {
    const start = treeCpuMs(this.#server.pid);
    return () => treeCpuMs(this.#server.pid) - start;
  }
}

async function measureBursts(
  probe: ServerProbe,
  streams: number,
  workload: Workload,
  bursts: Message[][][],
): Promise<Samples> {
  const speeds: Sample[] = [];
  const waits: Sample[] = [];
  for (const burst of bursts) {
    const cpu = probe.watchCpu();
    const answers = await Promise.all(burst.map((messages) => probe.ask(messages, workload.httpOutputTokens)));
    const numTokens = answers.reduce((sum, {numOutputTokens}) => sum + numOutputTokens, 0);
    speeds.push({value: (numTokens / spanMs(answers)) * 1000, cpuMsPerToken: cpu() / numTokens});
    waits.push({value: median(answers.map(firstTokenMs)), cpuMsPerToken: null});
  }
  return {[`http-output-${streams}`]: medianSample(speeds), [`http-first-token-${streams}`]: medianSample(waits)};
}

/** From the first request to the last end. */
function spanMs(answers: readonly StreamedAnswer[]): number {
  return Math.max(...answers.map(({endMs}) => endMs)) - Math.min(...answers.map(({sentMs}) => sentMs));
}

async function measureChats(probe: ServerProbe, workload: Workload, chats: Message[][]): Promise<Samples> {
  const turns: {first: Sample; second: Sample}[] = [];
  for (const messages of chats) {
    const first = await measureTurn(probe, messages, workload.chatAnswerTokens);
    const answer: Message = {role: 'assistant', content: first.answer.text};
    const next: Message[] = [...messages, answer, {role: 'user', content: secondQuestion}];
    const second = await measureTurn(probe, next, workload.chatAnswerTokens);
    turns.push({first: first.sample, second: second.sample});
  }
  const [first, second] = [
    medianSample(turns.map((turn) => turn.first)),
    medianSample(turns.map((turn) => turn.second)),
  ];
  return {
    'http-first-turn': first,
    'http-second-turn': second,
    'http-second-turn-share': {value: (second.value / first.value) * 100, cpuMsPerToken: null},
  };
}

/** Time to the first token; its CPU time is given per prompt token, reused ones included. */
async function measureTurn(probe: ServerProbe, messages: Message[], maxTokens: number) {
  const cpu = probe.watchCpu();
  let cpuMs = 0;
  const answer = await probe.ask(messages, maxTokens, (numChunks) => {
    if (numChunks === 1) cpuMs = cpu();
  });
  return {answer, sample: {value: firstTokenMs(answer), cpuMsPerToken: cpuMs / answer.numPromptTokens}};
}

/**
 * Longest time between two chunks of any running stream while a long prompt is computed.
 * @returns beside it the time of an undisturbed decode step of these streams
 */
async function measurePause(
  probe: ServerProbe,
  workload: Workload,
  prompts: ServerPrompts,
): Promise<{pause: Sample; stepMs: number}> {
  const running = startStreams(probe, workload, prompts.pauseStreams);
  await Promise.race([running.allDecode, running.answers]);
  const cpu = probe.watchCpu();
  const arrival = await probe.ask(prompts.pauseArrival, 1);
  const cpuMs = cpu();
  const answers = await running.answers;
  const [from, to] = [arrival.sentMs, arrival.chunkMs[0]];
  const numTokens = arrival.numPromptTokens + answers.reduce((sum, answer) => sum + chunksWithin(answer, from, to), 0);
  const pauseMs = Math.max(...answers.map(({chunkMs}) => longestPause(chunkMs, from, to)));
  return {
    pause: {value: pauseMs, cpuMsPerToken: cpuMs / numTokens},
    stepMs: median(answers.flatMap(({chunkMs}) => gaps(chunkMs.filter((time) => time > to)))),
  };
}

/** Chunks of each stream before a stream counts as decoding. */
const settledChunks = 4;

function startStreams(probe: ServerProbe, {pauseOutputTokens}: Workload, conversations: Message[][]) {
  const settled: Promise<void>[] = [];
  const asked = conversations.map((messages) => {
    let onSettled = () => {};
    settled.push(new Promise((resolve) => (onSettled = resolve)));
    return probe.ask(messages, pauseOutputTokens, (numChunks) => numChunks === settledChunks && onSettled());
  });
  return {allDecode: Promise.all(settled), answers: Promise.all(asked)};
}

function chunksWithin({chunkMs}: StreamedAnswer, from: number, to: number): number {
  return chunkMs.filter((time) => time >= from && time <= to).length;
}

/** Longest gap that touches `[from, to]`: the chunk before and the one after belong to it. */
export function longestPause(chunkMs: readonly number[], from: number, to: number): number {
  const first = Math.max(
    0,
    chunkMs.findLastIndex((time) => time < from),
  );
  const last = chunkMs.findIndex((time) => time > to);
  return Math.max(...gaps(chunkMs.slice(first, last === -1 ? undefined : last + 1)));
}
