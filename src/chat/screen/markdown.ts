/** One finished block of Markdown as lines for the terminal: headings, lists, tables, quotes, code, and styles within text. */
import {lexer, type Token, type Tokens} from 'marked';
import {type Paint, type Span, type Style, span, textWidth, wrapSpans} from './spans.ts';

export function drawMarkdown(text: string, width: number, paint: Paint): string[] {
  return lexer(text).flatMap((token) => drawBlock(token, width, paint));
}

function drawBlock(token: Token, width: number, paint: Paint): string[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return wrapSpans(inline(token.tokens ?? [], ['bold', 'heading']), paint, {width});
    case 'code':
      return drawCode((token as Tokens.Code).text, width, paint);
    case 'list':
      return drawList(token as Tokens.List, width, paint);
    case 'table':
      return drawTable(token as Tokens.Table, width, paint);
    case 'blockquote':
      return indented(
        (token.tokens ?? []).flatMap((inner) => drawBlock(inner, width - 2, paint)),
        paint('│ ', ['dim']),
      );
    case 'hr':
      return [paint('─'.repeat(Math.min(width, 40)), ['dim'])];
    default:
      return wrapSpans(
        'tokens' in token && token.tokens ? inline(token.tokens, []) : [span(token.raw.trimEnd())],
        paint,
        {
          width,
        },
      );
  }
}

/** Lines of code keep their breaks; long ones go on below. */
export function drawCode(code: string, width: number, paint: Paint): string[] {
  return code.split('\n').flatMap((line) => wrapSpans([span(line, 'code')], paint, {width, first: '  '}));
}

function indented(lines: readonly string[], prefix: string): string[] {
  return lines.map((line) => prefix + line);
}

function drawList({items, ordered, start}: Tokens.List, width: number, paint: Paint): string[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${Number(start) + index}. ` : '• ';
    const lines = item.tokens.flatMap((token) => drawBlock(token, width - mark.length, paint));
    const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
    return lines.map((line, row) => (row === 0 ? paint(mark, ['accent']) + box : ' '.repeat(mark.length)) + line);
  });
}

/** Columns as wide as their cells; too wide tables are shown as their source. */
function drawTable({header, rows, raw}: Tokens.Table, width: number, paint: Paint): string[] {
  const cells = [header, ...rows].map((row) => row.map(({tokens}) => inline(tokens, [])));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => spansWidth(row[column] ?? []))));
  if (widths.reduce((sum, each) => sum + each + 3, 1) > width) return wrapSpans([span(raw.trimEnd())], paint, {width});
  const drawRow = (row: Span[][], styles: Style[]) =>
    widths
      .map((each, column) => {
        const spans = row[column] ?? [];
        const text = spans.map((part) => paint(part.text, [...part.styles, ...styles])).join('');
        return text + ' '.repeat(each - spansWidth(spans));
      })
      .join(paint(' │ ', ['dim']));
  const rule = paint(widths.map((each) => '─'.repeat(each)).join('─┼─'), ['dim']);
  return [drawRow(cells[0]!, ['bold']), rule, ...cells.slice(1).map((row) => drawRow(row, []))];
}

function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((sum, {text}) => sum + textWidth(text), 0);
}

const inlineStyles: Readonly<Record<string, Style>> = {strong: 'bold', em: 'italic', del: 'strike', link: 'link'};

function inline(tokens: readonly Token[], styles: readonly Style[]): Span[] {
  return tokens.flatMap((token) => inlineSpans(token, styles));
}

function inlineSpans(token: Token, styles: readonly Style[]): Span[] {
  if (token.type === 'codespan') return [span((token as Tokens.Codespan).text, ...styles, 'code')];
  if (token.type === 'br') return [span('\n')];
  const style = inlineStyles[token.type];
  const inner = style ? [...styles, style] : styles;
  const spans = 'tokens' in token && token.tokens ? inline(token.tokens, inner) : [span(plainText(token), ...inner)];
  return token.type === 'link' ? [...spans, ...linkAddress(token as Tokens.Link, styles)] : spans;
}

function plainText(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}

/** The address stands behind a text that does not show it. */
function linkAddress({href, text}: Tokens.Link, styles: readonly Style[]): Span[] {
  return href === text || href === `mailto:${text}` ? [] : [span(` (${href})`, ...styles, 'dim')];
}
