/** What goes on, and the status line: lines that are drawn again and again. Their number is known and bounded. */
import {speedOf} from '../conversation/answer-stats.ts';
import {shortCount, shortTime, speedText, tokenCount} from '../format-stats.ts';
import {type BlockState, withoutColumns} from '../state/answer-blocks.ts';
import type {ViewState} from '../state/view-state.ts';
import {drawCall} from './draw-items.ts';
import {drawCode, drawIndented, drawMarkdown} from './markdown.ts';
import type {Pen} from './pen.ts';
import {cutToWidth, graphemes, type Paint, span, textWidth, wrapSpans} from './spans.ts';

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const msPerTurn = 100;
/** Longer ends of a thought are restless. */
const maxThoughtColumns = 60;

export interface LiveContext extends Pen {
  /** Most lines for what goes on. */
  maxLines: number;
  nowMs: number;
}

/** What goes on; nothing while the model is idle. */
export function drawActivity(state: ViewState, context: LiveContext): string[] {
  return context.maxLines > 0 ? activityLines(state, context).slice(-context.maxLines) : [];
}

/** What a call may get for an answer. */
export const approvalKeys = (canAllow: boolean): readonly (readonly [key: string, effect: string])[] => [
  ['y', 'once'],
  ...(canAllow ? [['a', 'always for this tool'] as const] : []),
  ['e', 'edit'],
  ['n', 'no, with a reason'],
];

function activityLines(state: ViewState, context: LiveContext): string[] {
  const {width, paint, nowMs} = context;
  const seconds = shortTime(nowMs - state.phaseStartMs);
  const turning = (text: string) => [
    `${paint(spinner[Math.floor(nowMs / msPerTurn) % spinner.length]!, ['accent'])} ${paint(cutToWidth(text, width - 2), ['dim'])}`,
  ];
  switch (state.phase) {
    case 'idle':
      return [];
    case 'waiting':
      return turning(state.loading ?? `waiting for the first token · ${seconds}`);
    case 'reconnecting':
      return turning(state.retryNote);
    case 'reasoning':
      return reasoningLines(state, {width, paint, seconds, turning});
    case 'answer':
      return answerLines(state, context);
    case 'tool-call':
      return state.calls.flatMap((call) => drawCall(call.function, context));
    case 'tool-approval':
      return wrapSpans([span(approvalText(state), 'warn')], paint, context);
    case 'tool-running':
      return turning(
        [`${state.activeCall?.function.name ?? 'tool'} runs · ${seconds}`, state.toolOutput]
          .filter(Boolean)
          .join(' · '),
      );
  }
}

function approvalText({activeCall, canAllow}: ViewState): string {
  const keys = approvalKeys(canAllow).map(([key, effect]) => `${key} ${effect}`);
  return `Run ${activeCall!.function.name}? ${keys.join(' · ')}`;
}

interface ReasoningContext {
  width: number;
  paint: Paint;
  seconds: string;
  turning: (text: string) => string[];
}

function reasoningLines(state: ViewState, {width, paint, seconds, turning}: ReasoningContext): string[] {
  if (state.reasoningMode === 'show') {
    return wrapSpans([span(state.reasoning.slice(-4000), 'dim')], paint, {width, first: paint('│ ', ['dim'])});
  }
  if (state.reasoningMode === 'hide') return turning(`thinks · ${seconds}`);
  const last = graphemes(span(state.reasoning.slice(-400).replaceAll('\n', ' ')).text)
    .slice(-Math.max(10, Math.min(maxThoughtColumns, width - 24)))
    .join('');
  return turning(`thinks · ${seconds} · ${last.trimStart()}`);
}

/** A block that goes on is drawn as far as it is known. */
function answerLines({answer, isRaw}: ViewState, pen: Pen): string[] {
  if (answer.rest === '') return [pen.paint('▌', ['accent'])];
  return [...(answer.isAfterBlank ? [''] : []), ...drawOpenBlock(answer, isRaw, pen)];
}

/** The rest of an answer that may still change, in the lines that it would have if it ended here. */
export function drawOpenBlock({rest, fence, indent}: BlockState, isRaw: boolean, pen: Pen): string[] {
  if (isRaw) return wrapSpans([span(rest)], pen.paint, pen);
  return drawIndented(fence?.indent ?? indent, pen, (inner) =>
    fence === null ? drawMarkdown(rest, inner) : drawCode(withoutColumns(rest, fence.indent), fence, inner),
  );
}

/** Parts of the status line that the view does not know. */
interface OutsideTexts {
  toolsText: string | null;
  stopText: string | null;
}

/** Model, context, speed; what the keys do. Where the room is small, the least important parts go first. */
export function statusLine(
  state: ViewState,
  {toolsText, stopText}: OutsideTexts,
  {width, paint, nowMs}: Omit<LiveContext, 'maxLines'>,
): string {
  const [count = null, speed = null, wait = null] = speedTexts(state, nowMs);
  const parts: {text: string | null; weight: number}[] = [
    {text: state.facts?.modelName ?? state.loading ?? (state.isUnreachable ? 'no model yet' : 'connecting'), weight: 5},
    {text: contextText(state), weight: 4},
    {text: count, weight: 1},
    {text: speed, weight: 3},
    {text: wait, weight: 2},
    {text: toolsText, weight: 0},
    {text: stopText, weight: 6},
  ];
  return paint(cutToWidth(span(fittingParts(parts, width)).text, width), ['dim']);
}

function fittingParts(parts: readonly {text: string | null; weight: number}[], width: number): string {
  const shown = parts.filter(({text}) => text !== null);
  const line = shown.map(({text}) => text).join(' · ');
  if (shown.length <= 1 || textWidth(line) <= width) return line;
  const least = Math.min(...shown.map(({weight}) => weight));
  return fittingParts(
    shown.filter(({weight}) => weight !== least),
    width,
  );
}

function contextText({contextTokens, facts}: ViewState): string | null {
  if (contextTokens === null) return null;
  const max = facts?.maxModelLen ?? null;
  if (max === null) return `ctx ${shortCount(contextTokens)}`;
  return `ctx ${shortCount(contextTokens)}/${shortCount(max)} (${Math.round((contextTokens * 100) / max)} %)`;
}

/** While an answer comes, its pieces count as tokens; afterwards the numbers are those of the server. */
function speedTexts({phase, stats, numPieces, firstPieceMs}: ViewState, nowMs: number): (string | null)[] {
  if (phase === 'reasoning' || phase === 'answer' || phase === 'tool-call') {
    return [tokenCount(numPieces), speedText(speedOf(numPieces, nowMs - (firstPieceMs ?? nowMs)))];
  }
  if (stats === null || stats.completionTokens === 0) return [];
  return [
    tokenCount(stats.completionTokens),
    speedText(stats.tokensPerSecond),
    stats.timeToFirstTokenMs === null ? null : `TTFT ${shortTime(stats.timeToFirstTokenMs)}`,
  ];
}
