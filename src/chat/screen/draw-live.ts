/** The short part that is drawn again: what goes on, the input and the status line. Its height is known and bounded. */
import {shortCount, shortTime, tokenCount} from '../format-stats.ts';
import type {TypedInput} from '../input/input-model.ts';
import type {BlockState} from '../state/answer-blocks.ts';
import type {ViewState} from '../state/view-state.ts';
import {drawCall} from './draw-items.ts';
import {drawCode, drawMarkdown} from './markdown.ts';
import type {Pen} from './pen.ts';
import {cutToWidth, graphemes, type Paint, span, textWidth, wrapSpans} from './spans.ts';

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const msPerTurn = 100;
/**
 * Columns of a line that moves. tmux wraps lines some time before it tells us that the window is narrower; what we draw in
 * between would leave a wrapped line behind.
 */
const maxMovingColumns = 48;

export interface LiveContext extends Pen {
  /** Most lines for what goes on. */
  maxLines: number;
  nowMs: number;
}

/** What goes on; nothing while the model is idle. */
export function drawActivity(state: ViewState, context: LiveContext): string[] {
  const {maxLines} = context;
  const lines = activityLines(state, context);
  if (lines.length <= maxLines) return lines;
  return lines.slice(-Math.max(1, maxLines));
}

const approvalKeys = 'y once · a always for this tool · e edit · n no, with a reason';

function activityLines(state: ViewState, context: LiveContext): string[] {
  const {paint, nowMs} = context;
  const room = Math.min(context.width, maxMovingColumns);
  const seconds = shortTime(nowMs - state.phaseStartMs);
  const turning = (text: string) => [
    `${paint(spinner[Math.floor(nowMs / msPerTurn) % spinner.length]!, ['accent'])} ${paint(cutToWidth(text, room - 2), ['dim'])}`,
  ];
  switch (state.phase) {
    case 'idle':
      return [];
    case 'waiting':
      return turning(state.loading ?? `waiting for the first token · ${seconds}`);
    case 'reconnecting':
      return turning(state.retryNote);
    case 'reasoning':
      return reasoningLines(state, {width: context.width, room, paint, seconds, turning});
    case 'answer':
      return answerLines(state, context);
    case 'tool-call':
      return state.calls.flatMap((call) => drawCall(call.function, context));
    case 'tool-approval':
      return wrapSpans([span(`Run ${state.activeCall!.function.name}? ${approvalKeys}`, 'warn')], paint, context);
    case 'tool-running':
      return turning(
        [`${state.activeCall?.function.name ?? 'tool'} runs · ${seconds}`, state.toolOutput]
          .filter(Boolean)
          .join(' · '),
      );
  }
}

interface ReasoningContext {
  width: number;
  /** Columns of a line that moves. */
  room: number;
  paint: Paint;
  seconds: string;
  turning: (text: string) => string[];
}

function reasoningLines(state: ViewState, {width, room, paint, seconds, turning}: ReasoningContext): string[] {
  if (state.reasoningMode === 'show') {
    return wrapSpans([span(state.reasoning.slice(-4000), 'dim')], paint, {width, first: paint('│ ', ['dim'])});
  }
  if (state.reasoningMode === 'hide') return turning(`thinks · ${seconds}`);
  const last = [...span(state.reasoning.slice(-200).replaceAll('\n', ' ')).text]
    .slice(-Math.max(10, room - 24))
    .join('');
  return turning(`thinks · ${seconds} · ${last.trimStart()}`);
}

/** A block that goes on is drawn as far as it is known. */
function answerLines({answer, isRaw}: ViewState, pen: Pen): string[] {
  const {rest, fence, isAfterBlank} = answer;
  if (rest === '') return [pen.paint('▌', ['accent'])];
  return [...(isAfterBlank ? [''] : []), ...openBlock(rest, fence, isRaw, pen)];
}

function openBlock(rest: string, fence: BlockState['fence'], isRaw: boolean, pen: Pen): string[] {
  if (isRaw) return wrapSpans([span(rest)], pen.paint, {width: pen.width});
  return fence === null ? drawMarkdown(rest, pen) : drawCode(rest, fence, pen);
}

export interface DrawnInput {
  lines: string[];
  /** Where the cursor stands in these lines. */
  cursor: {x: number; y: number};
}

const maxInputLines = 8;
const labelColumns = 2;

/** The text of the input in lines; more than eight scroll inside. */
export function drawInput(
  {editor: {text, cursor}, label, hint}: TypedInput,
  width: number,
  maxLines: number,
  paint: Paint,
): DrawnInput {
  const shownLabel = cutToWidth(span(label).text, Math.max(labelColumns, width - 10));
  const indent = textWidth(shownLabel);
  const {rows, place} = layOut(text, cursor, Math.max(4, width - indent - 1));
  const height = Math.max(1, Math.min(maxInputLines, maxLines));
  const first = Math.max(0, Math.min(place.y - height + 1, rows.length - height));
  const visible = rows.slice(first, first + height);
  const lines = visible.map((row, at) => (first + at === 0 ? paint(shownLabel, ['accent']) : ' '.repeat(indent)) + row);
  if (text === '') lines[0] += paint(cutToWidth(hint, width - indent - 1), ['dim']);
  return {lines, cursor: {x: indent + place.x, y: place.y - first}};
}

interface Layout {
  rows: string[];
  /** Of the cursor. */
  place: {x: number; y: number};
}

/** Rows break at line feeds and where the room ends. */
function layOut(text: string, cursor: number, room: number): Layout {
  const rows: string[] = [''];
  let place = {x: 0, y: 0};
  let used = 0;
  let index = 0;
  for (const grapheme of graphemes(text)) {
    const isHere = index === cursor;
    const shown = grapheme === '\n' ? '' : span(grapheme).text;
    if (isHere && grapheme === '\n') place = {x: used, y: rows.length - 1};
    if (grapheme === '\n' || used + textWidth(shown) > room) {
      rows.push('');
      used = 0;
    }
    if (isHere && grapheme !== '\n') place = {x: used, y: rows.length - 1};
    rows[rows.length - 1] += shown;
    used += textWidth(shown);
    index += grapheme.length;
  }
  return index === cursor ? {rows, place: {x: used, y: rows.length - 1}} : {rows, place};
}

/** Model, context, speed; what the keys do. Where the room is small, the least important parts go first. */
export function statusLine(state: ViewState, toolsText: string | null, {width, paint, nowMs}: LiveContext): string {
  const [count = null, speed = null, wait = null] = speedTexts(state, nowMs);
  const parts: {text: string | null; weight: number}[] = [
    {text: state.facts?.modelName ?? state.loading ?? (state.isUnreachable ? 'no model yet' : 'connecting'), weight: 5},
    {text: contextText(state), weight: 4},
    {text: count, weight: 1},
    {text: speed, weight: 3},
    {text: wait, weight: 2},
    {text: toolsText, weight: 0},
    {text: state.phase === 'idle' ? null : 'esc to stop', weight: 6},
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
    const seconds = firstPieceMs === null ? 0 : (nowMs - firstPieceMs) / 1000;
    return [tokenCount(numPieces), seconds > 0.3 ? `${((numPieces - 1) / seconds).toFixed(1)} tok/s` : null];
  }
  if (stats === null) return [];
  return [
    tokenCount(stats.completionTokens),
    stats.tokensPerSecond === null ? null : `${stats.tokensPerSecond.toFixed(1)} tok/s`,
    stats.timeToFirstTokenMs === null ? null : `TTFT ${shortTime(stats.timeToFirstTokenMs)}`,
  ];
}
