/**
 * What the front costs for each token: its processor time while many streams run against a vLLM that makes tokens for
 * nothing. `npm run bench:front [-- --streams 1000 --tokens 60 --step-ms 250]`. The measurement begins when every stream
 * has its first token and ends before the first one ends, so that requests are not counted. A front that does not keep up
 * merges tokens into fewer events, which would make them look cheap: that is counted and shown.
 */
import {type ChildProcess, fork} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {Agent} from 'undici';
import type {CpuTime} from './cpu-time.ts';

const {values} = parseArgs({
  options: {
    streams: {type: 'string', default: '1000'},
    tokens: {type: 'string', default: '60'},
    'step-ms': {type: 'string', default: '250'},
    'at-most': {type: 'string', default: '40'},
    profile: {type: 'boolean', default: false},
  },
});
const numStreams = Number(values.streams);
const numTokens = Number(values.tokens);
const limitMicroseconds = Number(values['at-most']);

function start(file: string, args: string[], execArgv: string[] = []): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return fork(path, args, {execArgv: ['--import', 'tsx', ...execArgv]});
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, 'message');
  return message as T;
}

/** Counts the events of a stream; resolves at its end. */
function readStream(agent: Agent, url: string, index: number, onEvent: () => void): Promise<void> {
  const content = `Tell me a story about lighthouse number ${index}, please.`;
  const body = JSON.stringify({
    messages: [{role: 'user', content}],
    stream: true,
    max_tokens: numTokens,
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

async function runStreams(url: string, numRuns: number, onProgress: (numEvents: readonly number[]) => void) {
  const agent = new Agent({connections: null, bodyTimeout: 0, headersTimeout: 0});
  const numEvents = Array.from({length: numRuns}, () => 0);
  await Promise.all(
    numEvents.map((_, index) =>
      readStream(agent, url, index, () => {
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
  time: Promise<CpuTime>;
}

interface Cost {
  userMicroseconds: number;
  systemMicroseconds: number;
  numEvents: number;
  /** Share of events that were merged into others. */
  merged: number;
}

/** Events of the first token, and of the role before it where there is one. */
async function measure(child: ChildProcess, url: string, firstEvents: number): Promise<Cost> {
  const mark = (numEvents: number): Mark => {
    child.send('cpu');
    return {numEvents, time: answerOf<CpuTime>(child)};
  };
  // Compiled code and open connections, as in a server that has run for a while.
  await runStreams(url, Math.min(200, numStreams), () => {});
  const marks: Mark[] = [];
  let numTotal = 0;
  await runStreams(url, numStreams, (numEvents) => {
    numTotal++;
    if (numTotal % 64 !== 0 || marks.length === 2) return;
    const hasBegun = marks.length === 1 || numEvents.every((count) => count >= firstEvents);
    const isDue = marks.length === 0 ? hasBegun : numEvents[0]! >= numTokens * 0.8;
    if (isDue) marks.push(mark(numTotal));
  });
  const [from, to] = marks as [Mark, Mark];
  const [before, after] = [await from.time, await to.time];
  const numEvents = to.numEvents - from.numEvents;
  return {
    userMicroseconds: (after.userMicroseconds - before.userMicroseconds) / numEvents,
    systemMicroseconds: (after.systemMicroseconds - before.systemMicroseconds) / numEvents,
    numEvents,
    merged: 1 - numTotal / (numStreams * (numTokens + firstEvents)),
  };
}

function lineOf(name: string, {userMicroseconds: user, systemMicroseconds: system, numEvents, merged}: Cost): string {
  const sum = `${(user + system).toFixed(1)} us for each of ${numEvents} events`;
  return `${name}: ${sum} (program ${user.toFixed(1)}, system ${system.toFixed(1)}); merged away ${(100 * merged).toFixed(1)} %\n`;
}

const fake = start('fake-vllm.ts', [values['step-ms']]);
const {url: fakeUrl} = await answerOf<{url: string}>(fake);
const relay = start('relay.ts', [fakeUrl]);
const floor = await measure(relay, (await answerOf<{url: string}>(relay)).url, 1);
relay.disconnect();
const front = start('front.ts', [fakeUrl], values.profile ? ['--cpu-prof', '--cpu-prof-dir=.cache/front-profile'] : []);
const cost = await measure(front, (await answerOf<{url: string}>(front)).url, 2);
front.disconnect();
if (values.profile) await once(front, 'exit');
process.stdout.write(lineOf('relay without any work', floor) + lineOf('front', cost));
const sum = cost.userMicroseconds + cost.systemMicroseconds;
process.stdout.write(`${sum <= limitMicroseconds ? 'within' : 'ABOVE'} the limit of ${limitMicroseconds} us\n`);
process.exit(sum <= limitMicroseconds ? 0 : 1);
