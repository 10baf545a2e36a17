/** One finished block of Markdown as lines for the terminal: headings, lists, tables, quotes, code, and styles within text. */
import {lexer, type Token, type Tokens} from 'marked';
import {languageOf} from '../state/answer-blocks.ts';
import {drawCells} from './draw-table.ts';
import type {CodePlace} from './highlight.ts';
import {narrower, type Pen} from './pen.ts';
import {type Span, type Style, span, wrapSpans} from './spans.ts';

export function drawMarkdown(text: string, pen: Pen): string[] {
  return lexer(text).flatMap((token) => drawBlock(token, pen));
}

function drawBlock(token: Token, pen: Pen): string[] {
  const {width, paint} = pen;
  switch (token.type) {
    case 'space':
    // The box of a task is drawn beside the mark of its item.
    case 'checkbox':
      return [];
    case 'heading':
      return wrapSpans(inline(token.tokens ?? [], ['bold', 'heading']), paint, {width});
    case 'code':
      return drawCode((token as Tokens.Code).text, {language: languageOf(token.lang ?? ''), before: ''}, pen);
    case 'list':
      return drawList(token as Tokens.List, pen);
    case 'table':
      return drawTable(token as Tokens.Table, pen);
    case 'blockquote':
      return indented(
        (token.tokens ?? []).flatMap((inner) => drawBlock(inner, narrower(pen, 2))),
        paint('│ ', ['dim']),
      );
    case 'hr':
      return [paint('─'.repeat(Math.min(width, 40)), ['dim'])];
    default:
      return wrapSpans(spansOfBlock(token), paint, {width});
  }
}

function spansOfBlock(token: Token): Span[] {
  return 'tokens' in token && token.tokens ? inline(token.tokens, []) : [span(token.raw.trimEnd())];
}

/** Lines of code keep their breaks; long ones go on below. */
export function drawCode(code: string, place: CodePlace, {width, paint, colours}: Pen): string[] {
  return wrapSpans(colours.spans(code, place), paint, {width, first: '  '});
}

/** What is indented has less room; in narrow windows it is indented less. */
export function drawIndented(columns: number, pen: Pen, draw: (pen: Pen) => string[]): string[] {
  const shown = Math.min(columns, pen.width >> 1);
  return indented(draw(narrower(pen, shown)), ' '.repeat(shown));
}

function indented(lines: readonly string[], prefix: string): string[] {
  return lines.map((line) => prefix + line);
}

function drawList({items, ordered, start}: Tokens.List, pen: Pen): string[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${Number(start) + index}. ` : item.task ? (item.checked ? '☑ ' : '☐ ') : '• ';
    const lines = item.tokens.flatMap((token) => drawBlock(token, narrower(pen, mark.length)));
    return lines.map((line, row) => (row === 0 ? pen.paint(mark, ['accent']) : ' '.repeat(mark.length)) + line);
  });
}

function drawTable({header, rows, align}: Tokens.Table, pen: Pen): string[] {
  const cells = [header, ...rows].map((row) => row.map(({tokens}) => inline(tokens, [])));
  return drawCells(cells, align, pen);
}

const inlineStyles: Readonly<Record<string, Style>> = {strong: 'bold', em: 'italic', del: 'strike', link: 'link'};

function inline(tokens: readonly Token[], styles: readonly Style[]): Span[] {
  return tokens.flatMap((token) => inlineSpans(token, styles));
}

function inlineSpans(token: Token, styles: readonly Style[]): Span[] {
  if (token.type === 'codespan') return [span((token as Tokens.Codespan).text, ...styles, 'code')];
  if (token.type === 'br') return [span('\n')];
  if (token.type === 'checkbox') return [];
  const style = inlineStyles[token.type];
  const inner = style ? [...styles, style] : styles;
  const spans = 'tokens' in token && token.tokens ? inline(token.tokens, inner) : [span(plainText(token), ...inner)];
  return token.type === 'link' ? [...spans, ...linkAddress(token as Tokens.Link, styles)] : spans;
}

function plainText(token: Token): string {
  const text = 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
  return text.replace(entity, (whole, name: string) => entities[name] ?? whole);
}

const entity = /&([a-z]+|#39);/g;
const entities: Readonly<Record<string, string>> = {
  ...{amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'"},
  ...{nbsp: ' ', mdash: '—', ndash: '–', hellip: '…', times: '×', rarr: '→', copy: '©'},
};

/** The address stands behind a text that does not show it. */
function linkAddress({href, text}: Tokens.Link, styles: readonly Style[]): Span[] {
  return href === text || href === `mailto:${text}` ? [] : [span(` (${href})`, ...styles, 'dim')];
}
