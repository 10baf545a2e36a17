/** The text of the input line as a value: a text with a cursor, and what keys do to it. Graphemes are never cut. */
import {graphemes} from '../screen/spans.ts';

export interface Editor {
  text: string;
  /** Index into `text`, at a border of graphemes. */
  cursor: number;
}

export const emptyEditor: Editor = {text: '', cursor: 0};

export function editorOf(text: string): Editor {
  return {text, cursor: text.length};
}

export function insert({text, cursor}: Editor, added: string): Editor {
  return {text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length};
}

type Edit = (editor: Editor) => Editor;

const edits: Readonly<Record<string, Edit>> = {
  left: ({text, cursor}) => ({text, cursor: before(text, cursor)}),
  right: ({text, cursor}) => ({text, cursor: after(text, cursor)}),
  'ctrl-b': ({text, cursor}) => ({text, cursor: before(text, cursor)}),
  'ctrl-f': ({text, cursor}) => ({text, cursor: after(text, cursor)}),
  home: ({text, cursor}) => ({text, cursor: lineStart(text, cursor)}),
  'ctrl-a': ({text, cursor}) => ({text, cursor: lineStart(text, cursor)}),
  end: ({text, cursor}) => ({text, cursor: lineEnd(text, cursor)}),
  'ctrl-e': ({text, cursor}) => ({text, cursor: lineEnd(text, cursor)}),
  'alt-b': ({text, cursor}) => ({text, cursor: wordStart(text, cursor)}),
  'alt-f': ({text, cursor}) => ({text, cursor: wordEnd(text, cursor)}),
  backspace: ({text, cursor}) => without(text, before(text, cursor), cursor),
  delete: ({text, cursor}) => without(text, cursor, after(text, cursor)),
  'ctrl-d': ({text, cursor}) => without(text, cursor, after(text, cursor)),
  'ctrl-u': ({text, cursor}) => without(text, lineStart(text, cursor), cursor),
  'ctrl-k': ({text, cursor}) => without(text, cursor, lineEnd(text, cursor)),
  'ctrl-w': ({text, cursor}) => without(text, wordStart(text, cursor), cursor),
  'alt-backspace': ({text, cursor}) => without(text, wordStart(text, cursor), cursor),
  'ctrl-j': (editor) => insert(editor, '\n'),
  'alt-enter': (editor) => insert(editor, '\n'),
};

/** Null when the key means nothing here. */
export function editByKey(editor: Editor, name: string): Editor | null {
  return Object.hasOwn(edits, name) ? edits[name]!(editor) : null;
}

/** The same column one line up or down; null at the edge. */
export function moveLine({text, cursor}: Editor, direction: -1 | 1): Editor | null {
  const start = lineStart(text, cursor);
  const column = cursor - start;
  if (direction === -1) {
    if (start === 0) return null;
    const target = lineStart(text, start - 1);
    return {text, cursor: Math.min(target + column, start - 1)};
  }
  const end = lineEnd(text, cursor);
  if (end === text.length) return null;
  return {text, cursor: Math.min(end + 1 + column, lineEnd(text, end + 1))};
}

function without(text: string, from: number, to: number): Editor {
  return {text: text.slice(0, from) + text.slice(to), cursor: from};
}

function before(text: string, cursor: number): number {
  return cursor - (graphemes(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function after(text: string, cursor: number): number {
  return cursor + (graphemes(text.slice(cursor, cursor + 64))[0]?.length ?? 0);
}

function lineStart(text: string, cursor: number): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

function wordStart(text: string, cursor: number): number {
  return text.slice(0, cursor).replace(/\S+\s*$|\s+$/, '').length;
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S+|^\s+/.exec(text.slice(cursor))?.[0].length ?? 0);
}
