/** Numbers for people: counts, times and rates of an answer. */
import type {AnswerStats} from './conversation/answer-stats.ts';

/** `950`, `1.2k`, `128k` */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return `${thousands < 10 ? thousands.toFixed(1).replace(/\.0$/, '') : Math.round(thousands)}k`;
}

/** `310 ms`, `3.2 s` */
export function shortTime(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** `1 token`, `20 tokens` */
export function tokenCount(count: number): string {
  return `${count} ${count === 1 ? 'token' : 'tokens'}`;
}

/** `42.1 tok/s`; null when it is not known. */
export function speedText(tokensPerSecond: number | null): string | null {
  return tokensPerSecond === null ? null : `${tokensPerSecond.toFixed(1)} tok/s`;
}

/** The line of `--stats`. */
export function statsLine(stats: AnswerStats): string {
  const {promptTokens, completionTokens, timeToFirstTokenMs, tokensPerSecond, tokensPerSecondOverall} = stats;
  const parts = [
    promptTokens === null ? null : `prompt ${tokenCount(promptTokens)}`,
    `answer ${tokenCount(completionTokens)}`,
    timeToFirstTokenMs === null ? null : `TTFT ${shortTime(timeToFirstTokenMs)}`,
    speedText(tokensPerSecond),
    tokensPerSecondOverall === null ? null : `TPS ${tokensPerSecondOverall.toFixed(1)}`,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}
