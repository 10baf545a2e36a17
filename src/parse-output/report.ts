/** What the parsers made of an output, for people: the three kinds of text one below the other, or every delta. */
import type {FoldedPieces, ParsedPiece} from '../core/parsers/parsed-piece.ts';
import type {ParsedDelta, ParseResult} from './parse-text.ts';

const NOTHING = '(nothing)';

type Heading = (text: string) => string;

/** Sections with a title each. @param heading how titles look */
export function resultLines({folded}: ParseResult, heading: Heading): string[] {
  return [
    ...section(heading('Reasoning:'), folded.reasoning),
    ...section(heading('Content:'), folded.content),
    ...folded.toolCalls.flatMap((call, index) => callLines(call, heading(`Tool call ${index}: ${call.name}`))),
    ...(folded.toolCalls.length === 0 ? section(heading('Tool calls:'), '') : []),
  ];
}

function section(title: string, text: string): string[] {
  return [title, ...indented(text === '' ? NOTHING : text), ''];
}

function indented(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`.trimEnd());
}

function callLines({id, argumentsText}: FoldedPieces['toolCalls'][number], title: string): string[] {
  const note = isJson(argumentsText) ? '' : '  (the arguments are no whole JSON)';
  return [title + note, ...indented(argumentsText), `  id ${id}`, ''];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One line for each kind of news in a delta: what was read, and what it gave. */
export function deltaLines(deltas: readonly ParsedDelta[]): string[] {
  const rows = deltas.flatMap(({text, pieces}) =>
    pieces.map((piece, index) => [index === 0 ? shownText(text) : '', ...pieceColumns(piece)] as const),
  );
  const width = Math.max(0, ...rows.map(([text]) => text.length));
  return rows.map(([text, kind, news]) => `${text.padEnd(width)}  ${kind.padEnd(KIND_WIDTH)}  ${news}`.trimEnd());
}

const KIND_WIDTH = 'tool-call-start'.length;
const shownText = (text: string) => (text === '' ? '(end)' : JSON.stringify(text));

function pieceColumns(piece: ParsedPiece): [kind: string, news: string] {
  switch (piece.type) {
    case 'text-delta':
      return ['content', JSON.stringify(piece.text)];
    case 'reasoning-delta':
      return ['reasoning', JSON.stringify(piece.text)];
    case 'tool-call-start':
      return ['call begins', `${piece.index}: ${piece.name}`];
    case 'tool-call-delta':
      return ['arguments', `${piece.index}: ${JSON.stringify(piece.argumentsText)}`];
  }
}
