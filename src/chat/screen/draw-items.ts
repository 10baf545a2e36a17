/** Finished things as lines of the terminal. What they say comes from others and is made safe on the way. */

import type {ToolCall} from '../conversation/messages.ts';
import {shortTime, tokenCount} from '../format-stats.ts';
import type {AnswerBlock} from '../state/answer-blocks.ts';
import type {ViewItem} from '../state/view-state.ts';
import {drawCode, drawIndented, drawMarkdown} from './markdown.ts';
import {narrower, type Pen} from './pen.ts';
import {type Style, span, textWidth, wrapSpans} from './spans.ts';

const toneStyles: Readonly<Record<'info' | 'warning' | 'error', readonly Style[]>> = {
  info: ['dim'],
  warning: ['warn'],
  error: ['bad'],
};

/** Characters of a question that is shown in full, and of the part of a longer one. */
const maxQuestion = {whole: 4000, beginning: 1000};
/** Lines of a result that are shown; the model gets all of it. */
const maxResultLines = 8;

export function drawItem(item: ViewItem, pen: Pen): string[] {
  const {width, paint} = pen;
  switch (item.type) {
    case 'banner':
      return [
        `${paint('Parlance', ['bold', 'accent'])} ${paint(`${item.version} · /help lists the commands`, ['dim'])}`,
      ];
    case 'question':
      return ['', ...drawQuestion(item.text, pen), ''];
    case 'block':
      return [...(item.block.hasGap ? [''] : []), ...drawBlock(item.block, pen)];
    case 'thought':
      return drawThought(item, pen);
    case 'call':
      return drawCall(item.call.function, pen);
    case 'result':
      return drawResult(item, pen);
    case 'note':
      return wrapSpans([span(item.text, ...toneStyles[item.tone])], paint, {width});
    case 'listing':
      return [
        '',
        paint(item.title, ['bold']),
        ...item.text.split('\n').flatMap((line) => drawRow(line, narrower(pen, 2))),
      ];
  }
}

/** Of what was pasted the beginning will do: the person knows it, and it would push the talk away. */
function drawQuestion(text: string, {width, paint}: Pen): string[] {
  const shown = text.length > maxQuestion.whole ? text.slice(0, maxQuestion.beginning) : text;
  const lines = wrapSpans([span(shown, 'bold')], paint, {width, first: paint('> ', ['accent']), rest: '  '});
  if (shown === text) return lines;
  return [...lines, paint(`  … ${text.length - shown.length} more characters`, ['dim'])];
}

function drawBlock({type, text, code, indent}: AnswerBlock, pen: Pen): string[] {
  if (type === 'raw') return wrapSpans([span(text)], pen.paint, pen);
  return drawIndented(indent, pen, (inner) =>
    type === 'code' ? drawCode(text, code ?? {language: '', before: ''}, inner) : drawMarkdown(text, inner),
  );
}

function drawThought(
  {text, seconds, numTokens, isFolded}: Extract<ViewItem, {type: 'thought'}>,
  {width, paint}: Pen,
): string[] {
  const title = seconds > 0 ? `thought ${shortTime(seconds * 1000)} · ${tokenCount(numTokens)}` : 'thought';
  if (isFolded) return [paint(`${title} (ctrl-t shows)`, ['dim'])];
  const rule = paint('│ ', ['dim']);
  return [paint(title, ['dim']), ...wrapSpans([span(text.trim(), 'dim')], paint, {width, first: rule})];
}

export function drawCall({name, arguments: text}: ToolCall['function'], {width, paint}: Pen): string[] {
  const spans = [span('⚒ ', 'accent'), span(name, 'bold'), span(` ${prettyArguments(text)}`, 'code')];
  return wrapSpans(spans, paint, {width, first: '', rest: '  '});
}

/** Short objects stay on one line; text that is no JSON yet stays as it is. */
function prettyArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const short = JSON.stringify(value);
    return short.length <= 60 ? short : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}

/** What stands behind a gap of two blanks goes on below itself where there is room, else it gets lines of its own. */
function drawRow(line: string, {width, paint}: Pen): string[] {
  const [before = ''] = /^\s*\S+(?: \S+)*\s{2,}(?=\S)/.exec(line) ?? [];
  const column = textWidth(before);
  const isNarrow = column >= width / 2;
  const shown = isNarrow ? `${before.trimEnd()}\n${line.slice(before.length)}` : line;
  const lines = wrapSpans([span(shown)], paint, {width, first: '', rest: ' '.repeat(isNarrow ? 2 : column)});
  return lines.map((each) => `  ${each}`);
}

function drawResult({text, isError}: Extract<ViewItem, {type: 'result'}>, {width, paint}: Pen): string[] {
  const style: Style = isError ? 'bad' : 'dim';
  const lines = wrapSpans([span(text.trimEnd(), style)], paint, {width, first: paint('⎿ ', ['dim']), rest: '  '});
  if (lines.length <= maxResultLines) return [...lines, ''];
  const rest = `  … ${lines.length - maxResultLines} more lines (ctrl-o shows)`;
  return [...lines.slice(0, maxResultLines), paint(rest, ['dim']), ''];
}
