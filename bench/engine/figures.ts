/**
 * The figures of the benchmark as data: what each is called, its unit, which direction is better, and the target that
 * the project set for it. Measuring fills them by id, the report draws them in this order.
 */
import {mostStreams, type Workload} from './workload.ts';

export interface Figure {
  id: string;
  title: string;
  unit: 'tokens/s' | 'ms' | '%' | 'MB' | 'x';
  better: 'higher' | 'lower';
  target?: Target;
}

/** `ratio`: how many times better than llama.cpp. `value`: our own value. `other`: our own value against another figure. */
export type Target =
  | {type: 'ratio'; atLeast: number}
  | {type: 'value'; atLeast?: number; atMost?: number}
  | {type: 'other'; id: string; atMostTimes: number; text: string};

const ratio = (atLeast: number): {target: Target} => ({target: {type: 'ratio', atLeast}});

/** Chunks late in a prompt cost more than its average chunk, and a stream's chunks pass two processes and a socket. */
const pauseTolerance = 1.25;

export function figuresOf(workload: Workload): Figure[] {
  return [...loopFigures(workload), ...httpFigures(workload)];
}

function loopFigures(workload: Workload): Figure[] {
  const speed = {unit: 'tokens/s', better: 'higher'} as const;
  const {prefillLengths, streams, httpPromptTokens, httpOutputTokens} = workload;
  return [
    ...prefillLengths.map((length) => ({
      id: `loop-prefill-${length}`,
      title: `loop: prefill, ${length}-token prompt`,
      ...speed,
      ...ratio(2),
    })),
    ...streams.map((count) => ({
      id: `loop-decode-${count}`,
      title: `loop: decode, ${streamsText(count)}`,
      ...speed,
      ...(count === 1 ? ratio(1) : {}),
    })),
    {
      id: 'loop-burst',
      title: `loop: output, ${mostStreams(workload)} prompts of ${httpPromptTokens}, ${httpOutputTokens} out`,
      ...speed,
    },
  ];
}

function httpFigures(workload: Workload): Figure[] {
  const {streams, httpPromptTokens, httpOutputTokens, chatPromptTokens, pauseStreams} = workload;
  const wait = {unit: 'ms', better: 'lower'} as const;
  return [
    ...streams.map(
      (count): Figure => ({
        id: `http-output-${count}`,
        title: `http: output, ${streamsText(count)}, ${httpPromptTokens} in, ${httpOutputTokens} out`,
        unit: 'tokens/s',
        better: 'higher',
        ...(httpTargets[count] ?? {}),
      }),
    ),
    ...streams.map((count) => ({
      id: `http-first-token-${count}`,
      title: `http: first token, ${streamsText(count)}, ${httpPromptTokens} in`,
      ...wait,
    })),
    {
      id: 'http-first-turn',
      title: `http: first token, chat of ${chatPromptTokens} tokens`,
      ...wait,
      ...ratio(2),
    },
    {id: 'http-second-turn', title: 'http: first token, its second turn', ...wait},
    {
      id: 'http-second-turn-share',
      title: 'http: second turn in % of the first',
      unit: '%',
      better: 'lower',
      target: {type: 'value', atMost: 5},
    },
    {
      id: 'http-pause',
      title: `http: longest pause of ${pauseStreams} streams, ${chatPromptTokens} tokens arrive`,
      ...wait,
      target: {type: 'other', id: 'http-chunk', atMostTimes: pauseTolerance, text: 'one chunk'},
    },
    {id: 'http-chunk', title: 'http: time of one chunk and one decode step', ...wait},
    {
      id: 'http-of-loop',
      title: `http: output of ${mostStreams(workload)} streams against the bare loop`,
      unit: 'x',
      better: 'higher',
      target: {type: 'value', atLeast: 0.9},
    },
    {id: 'http-memory', title: 'http: peak memory', unit: 'MB', better: 'lower'},
  ];
}

const httpTargets: Record<number, {target: Target}> = {1: ratio(1), 16: ratio(1.5)};

function streamsText(count: number): string {
  return count === 1 ? '1 stream' : `${count} streams`;
}
