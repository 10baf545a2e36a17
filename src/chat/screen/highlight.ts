/**
 * Colours for code. The grammars are loaded when the model is there, so that the prompt need not wait for them; code that
 * is drawn before has one colour. What comes out are spans, and the text is never changed.
 */
import type {HLJSApi} from 'highlight.js';
import {type Span, type Style, span} from './spans.ts';

/** Code that stands before, in the same block, tells whether a line lies within a comment or a text. */
export interface CodePlace {
  language: string;
  before: string;
}

const styles: Readonly<Record<string, Style>> = {
  keyword: 'keyword',
  'selector-tag': 'keyword',
  literal: 'number',
  number: 'number',
  symbol: 'number',
  string: 'string',
  regexp: 'string',
  addition: 'good',
  deletion: 'bad',
  comment: 'dim',
  quote: 'dim',
  meta: 'dim',
  title: 'name',
  section: 'name',
  name: 'keyword',
  built_in: 'type',
  type: 'type',
  class: 'type',
  attr: 'name',
  attribute: 'name',
  variable: 'type',
};

/** Marks of the highlighter: elements begin and end, four signs stand escaped. */
const marks = /<span class="hljs-([\w-]+)[^"]*">|<\/span>|&(amp|lt|gt|quot|#x27);/g;
const escapes: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'"};

export class CodeColours {
  #highlighter: HLJSApi | null = null;

  /** May be called often. */
  async load(): Promise<void> {
    this.#highlighter ??= (await import('highlight.js/lib/common')).default;
  }

  spans(code: string, {language, before}: CodePlace): Span[] {
    if (!this.#highlighter?.getLanguage(language)) return [span(code, 'code')];
    const {value} = this.#highlighter.highlight(before + code, {language, ignoreIllegals: true});
    return withoutBeginning(spansOf(value), before.length);
  }
}

/** The innermost element that has a colour gives it. */
function spansOf(marked: string): Span[] {
  const spans: Span[] = [];
  const open: (Style | undefined)[] = [];
  let end = 0;
  const add = (text: string) => {
    const style = open.findLast((each) => each !== undefined);
    if (text !== '') spans.push({text, styles: style ? [style] : []});
  };
  for (const {0: mark, 1: name, 2: escaped, index} of marked.matchAll(marks)) {
    add(marked.slice(end, index));
    end = index + mark.length;
    if (escaped !== undefined) add(escapes[escaped]!);
    else if (name !== undefined) open.push(styles[name]);
    else open.pop();
  }
  add(marked.slice(end));
  return spans;
}

/** Without so many characters at the front; what is left is made safe for the terminal. */
function withoutBeginning(spans: readonly Span[], length: number): Span[] {
  let left = length;
  return spans.flatMap(({text, styles: own}) => {
    const kept = text.slice(left);
    left = Math.max(0, left - text.length);
    return kept === '' ? [] : [span(kept, ...own)];
  });
}
