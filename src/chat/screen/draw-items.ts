/** Finished things as lines of the terminal. What they say comes from others and is made safe on the way. */
import {shortTime} from '../format-stats.ts';
import type {ViewItem} from '../state/view-state.ts';
import {drawCode, drawMarkdown} from './markdown.ts';
import {type Paint, type Style, span, wrapSpans} from './spans.ts';

const toneStyles: Readonly<Record<'info' | 'warning' | 'error', readonly Style[]>> = {
  info: ['dim'],
  warning: ['warn'],
  error: ['bad'],
};

/** Lines of a result that are shown; the model gets all of it. */
const maxResultLines = 8;

export function drawItem(item: ViewItem, width: number, paint: Paint): string[] {
  switch (item.type) {
    case 'banner':
      return [
        `${paint('Parlance', ['bold', 'accent'])} ${paint(`${item.version} · /help lists the commands`, ['dim'])}`,
      ];
    case 'question':
      return [
        '',
        ...wrapSpans([span(item.text, 'bold')], paint, {width, first: paint('> ', ['accent']), rest: '  '}),
        '',
      ];
    case 'block':
      return [...(item.block.hasGap ? [''] : []), ...drawBlock(item.block, width, paint)];
    case 'thought':
      return drawThought(item, width, paint);
    case 'call':
      return drawCall(item.call.function, width, paint);
    case 'result':
      return drawResult(item, width, paint);
    case 'note':
      return wrapSpans([span(item.text, ...toneStyles[item.tone])], paint, {width});
    case 'listing':
      return [paint(item.title, ['bold']), ...wrapSpans([span(item.text)], paint, {width, first: '  '})];
  }
}

function drawBlock(
  {type, text}: {type: 'markdown' | 'code' | 'raw'; text: string},
  width: number,
  paint: Paint,
): string[] {
  if (type === 'code') return drawCode(text, width, paint);
  if (type === 'raw') return wrapSpans([span(text)], paint, {width});
  return drawMarkdown(text, width, paint);
}

function drawThought(
  {text, seconds, isFolded}: Extract<ViewItem, {type: 'thought'}>,
  width: number,
  paint: Paint,
): string[] {
  const title = seconds > 0 ? `thought ${shortTime(seconds * 1000)} · ${text.length} characters` : 'thought';
  if (isFolded) return [paint(`${title} (ctrl-t shows)`, ['dim'])];
  const rule = paint('│ ', ['dim']);
  return [paint(title, ['dim']), ...wrapSpans([span(text.trim(), 'dim')], paint, {width, first: rule})];
}

export function drawCall(
  {name, arguments: text}: {name: string; arguments: string},
  width: number,
  paint: Paint,
): string[] {
  const spans = [span('⚒ ', 'accent'), span(name, 'bold'), span(` ${prettyArguments(text)}`, 'code')];
  return wrapSpans(spans, paint, {width, first: '', rest: '  '});
}

/** Short objects stay on one line; text that is no JSON yet stays as it is. */
export function prettyArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const short = JSON.stringify(value);
    return short.length <= 60 ? short : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}

function drawResult({text, isError}: Extract<ViewItem, {type: 'result'}>, width: number, paint: Paint): string[] {
  const style: Style = isError ? 'bad' : 'dim';
  const lines = wrapSpans([span(text.trimEnd(), style)], paint, {width, first: paint('⎿ ', ['dim']), rest: '  '});
  if (lines.length <= maxResultLines) return lines;
  return [
    ...lines.slice(0, maxResultLines),
    paint(`  … ${lines.length - maxResultLines} more lines (ctrl-o shows)`, ['dim']),
  ];
}
