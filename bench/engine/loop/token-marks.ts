/** From the marks of a task to speeds. Pure. */
import type {Sample} from '../samples.ts';
import type {TokenMark} from './loop-protocol.ts';

/** Output tokens of a stream that pass before decoding counts: the prompt's own, and one to settle. */
const settlingTokens = 2;

/** Prompt tokens a second, from a task with one stream and one output token. */
export function prefillSpeed(marks: readonly TokenMark[], numPromptTokens: number): Sample {
  const [{wallMs, cpuMs}] = marks;
  return {value: (numPromptTokens / wallMs) * 1000, cpuMsPerToken: cpuMs / numPromptTokens};
}

/**
 * Output tokens a second while all streams decode: from the time the last stream has settled to the time the first one
 * ends. Prefill is left out on both sides of the comparison, however it is scheduled.
 * @throws Error when there is no such time
 */
export function decodeSpeed(marks: readonly TokenMark[]): Sample {
  const streams = marksByStream(marks);
  const start = latest(streams.map((stream) => stream[settlingTokens - 1]));
  const end = earliest(streams.map((stream) => stream[stream.length - 1]));
  const numTokens = marks.filter(({wallMs}) => wallMs > start.wallMs && wallMs <= end.wallMs).length;
  if (numTokens === 0) throw new Error('The streams never decoded at the same time: give them more output tokens');
  return {
    value: (numTokens / (end.wallMs - start.wallMs)) * 1000,
    cpuMsPerToken: (end.cpuMs - start.cpuMs) / numTokens,
  };
}

/** Output tokens a second of a whole task, prefill included. */
export function burstSpeed(marks: readonly TokenMark[]): Sample {
  const {wallMs, cpuMs} = latest(marks);
  return {value: (marks.length / wallMs) * 1000, cpuMsPerToken: cpuMs / marks.length};
}

function marksByStream(marks: readonly TokenMark[]): TokenMark[][] {
  const streams: TokenMark[][] = [];
  for (const mark of marks) (streams[mark.stream] ??= []).push(mark);
  return streams;
}

function latest(marks: readonly TokenMark[]): TokenMark {
  return marks.reduce((best, mark) => (mark.wallMs > best.wallMs ? mark : best));
}

function earliest(marks: readonly TokenMark[]): TokenMark {
  return marks.reduce((best, mark) => (mark.wallMs < best.wallMs ? mark : best));
}
