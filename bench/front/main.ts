/**
 * What the front costs for each token: processor time of the built server while many streams run against a vLLM that
 * makes tokens for nothing. `npm run bench:front [-- --streams 1000 --tokens 60 --step-ms 250]`. The measurement begins
 * when every stream has its first token and ends before the first one ends, so that requests are not counted. A front that
 * does not keep up merges tokens into fewer events, which would make them look cheap: that is counted and shown.
 */
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {Agent} from 'undici';
import {findPackageRoot} from '../../src/core/util/package-root.ts';
import {Child, endChildrenWithProcess} from '../engine/process/child.ts';
import {cpuTime} from '../engine/process/proc-files.ts';

const {values} = parseArgs({
  options: {
    streams: {type: 'string', default: '1000'},
    tokens: {type: 'string', default: '60'},
    'step-ms': {type: 'string', default: '250'},
    'at-most': {type: 'string', default: '40'},
    /** Writes a profile of the front into `.cache/front-profile`. */
    profile: {type: 'boolean', default: false},
  },
});
const numStreams = Number(values.streams);
const numTokens = Number(values.tokens);
const limitMicroseconds = Number(values['at-most']);
const listening = /Listening on (http:\/\/\S+)/;

interface Server {
  child: Child;
  url: string;
}

async function start(args: string[]): Promise<Server> {
  const child = new Child({command: process.execPath, args});
  return {child, url: (await child.waitForOutput(listening))[1]!};
}

const startScript = (file: string, ...args: string[]) =>
  start(['--import', import.meta.resolve('tsx'), join(import.meta.dirname, file), ...args]);

function startFront(engineUrl: string): Promise<Server> {
  const profile = values.profile ? ['--cpu-prof', '--cpu-prof-dir=.cache/front-profile'] : [];
  const serve = [join(findPackageRoot(), 'bin/run.js'), 'serve', '--host', '127.0.0.1', '--port', '0'];
  return start([...profile, ...serve, '--engine', 'vllm', '--engine-url', engineUrl, '--disable-uvicorn-access-log']);
}

/** Counts the events of a stream; resolves at its end. */
function readStream(agent: Agent, url: string, index: number, maxTokens: number, onEvent: () => void): Promise<void> {
  const content = `Tell me a story about lighthouse number ${index}, please.`;
  const body = JSON.stringify({
    messages: [{role: 'user', content}],
    stream: true,
    max_tokens: maxTokens,
    ignore_eos: true,
  });
  return new Promise((resolve, reject) => {
    agent.dispatch(
      {origin: url, path: '/v1/chat/completions', method: 'POST', headers: {'content-type': 'application/json'}, body},
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          if (status !== 200) reject(new Error(`status ${status}`));
        },
        onResponseData(_controller, bytes: Buffer) {
          for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', at + 2)) onEvent();
        },
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

/** Runs all streams at once, each to its end. @param onProgress told after each event how many every stream had */
async function runStreams(url: string, maxTokens: number, onProgress: (numEvents: readonly number[]) => void) {
  const agent = new Agent({connections: null, bodyTimeout: 0, headersTimeout: 0});
  const numEvents = Array.from({length: numStreams}, () => 0);
  await Promise.all(
    numEvents.map((_, index) =>
      readStream(agent, url, index, maxTokens, () => {
        numEvents[index]!++;
        onProgress(numEvents);
      }),
    ),
  );
  await agent.close();
}

/** Counts of all events so far, and processor time, at one moment. */
interface Mark {
  numEvents: number;
  time: ReturnType<typeof cpuTime>;
}

interface Cost {
  userMicroseconds: number;
  systemMicroseconds: number;
  numEvents: number;
  /** Share of events that were merged into others. */
  merged: number;
}

/** @param firstEvents events of the first token, and of the role before it where there is one */
async function measure({child, url}: Server, firstEvents: number): Promise<Cost> {
  // Compiled code and open connections, as in a server that has run for a while.
  await runStreams(url, 20, () => {});
  const marks: Mark[] = [];
  let numTotal = 0;
  await runStreams(url, numTokens, (numEvents) => {
    numTotal++;
    if (numTotal % 64 !== 0 || marks.length === 2) return;
    const hasBegun = marks.length === 1 || numEvents.every((count) => count >= firstEvents);
    const isDue = marks.length === 0 ? hasBegun : numEvents[0]! >= numTokens * 0.9;
    if (isDue) marks.push({numEvents: numTotal, time: cpuTime(child.pid)});
  });
  const [from, to] = marks as [Mark, Mark];
  const numEvents = to.numEvents - from.numEvents;
  return {
    userMicroseconds: (to.time.userMicroseconds - from.time.userMicroseconds) / numEvents,
    systemMicroseconds: (to.time.systemMicroseconds - from.time.systemMicroseconds) / numEvents,
    numEvents,
    merged: 1 - numTotal / (numStreams * (numTokens + firstEvents)),
  };
}

function lineOf(name: string, {userMicroseconds: user, systemMicroseconds: system, numEvents, merged}: Cost): string {
  const sum = `${(user + system).toFixed(1)} us for each of ${numEvents} events`;
  return `${name}: ${sum} (program ${user.toFixed(1)}, system ${system.toFixed(1)}); merged away ${(100 * merged).toFixed(1)} %\n`;
}

endChildrenWithProcess(() => {});
const fake = await startScript('fake-vllm.ts', values['step-ms'], values.streams);
const relay = await startScript('relay.ts', fake.url);
process.stdout.write(lineOf('relay without any work', await measure(relay, 1)));
await relay.child.stop();
const front = await startFront(fake.url);
const cost = await measure(front, 2);
process.stdout.write(lineOf('front', cost));
await front.child.stop();
await fake.child.stop();
const sum = cost.userMicroseconds + cost.systemMicroseconds;
process.stdout.write(`${sum <= limitMicroseconds ? 'within' : 'ABOVE'} the limit of ${limitMicroseconds} us\n`);
process.exitCode = sum <= limitMicroseconds ? 0 : 1;
