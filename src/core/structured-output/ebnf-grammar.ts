/**
 * Grammars as GBNF texts, the form that xgrammar and llama.cpp read: `root ::= "yes" | [0-9]+`. Rules may span lines; the
 * first one of an answer is called `root`.
 */
import {anyCodePoint} from './code-point-ranges.ts';
import {type Grammar, GrammarBuilder, type GrammarNode, nothing, oneOf, text} from './grammar.ts';
import {GrammarText} from './grammar-text.ts';
import {NotationReader} from './notation-reader.ts';

const nameForm = /[A-Za-z_][A-Za-z0-9_.-]*/y;
const definitionForm = /[A-Za-z_][A-Za-z0-9_.-]*\s*::=/y;
const blank = /(\s|#[^\n]*)*/y;

/** @throws ValidationError with line and column */
export function ebnfGrammar(source: string): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(ebnfNode(source, builder));
}

/** The same as a part of a larger grammar. */
export function ebnfNode(source: string, builder: GrammarBuilder): GrammarNode {
  return new EbnfReader(source, builder).readAll();
}

class EbnfReader extends NotationReader {
  protected readonly closers = '|)';

  constructor(source: string, builder: GrammarBuilder) {
    super(new GrammarText(source, 'grammar', blank), builder);
  }

  readAll(): GrammarNode {
    return this.readRules('root');
  }

  protected get startsRule(): boolean {
    return this.source.looksAt(definitionForm);
  }

  protected readRule(): void {
    const start = this.source.position;
    const name = this.source.take(nameForm);
    if (name === null || !this.source.takeText('::=')) this.source.refuse('a rule (name ::= …) is expected', start);
    this.define(name, start, () => this.readWholeRule());
  }

  protected override readSequence(): GrammarNode {
    if (this.isAtSequenceEnd) this.source.refuse('an element is expected; write "" for the empty text');
    return super.readSequence();
  }

  protected readCounted(): GrammarNode {
    return this.source.repeated(this.#readElement());
  }

  #readElement(): GrammarNode {
    const start = this.source.position;
    const {next} = this.source;
    if (next === '"' || next === "'") return text(this.source.takeQuoted());
    if (next === '[') return oneOf(this.source.takeClass());
    if (this.source.takeText('(=')) this.source.refuse('look-ahead is not supported', start);
    if (this.source.takeText('()')) return nothing;
    if (next === '(') return this.readGroup('(', ')');
    if (this.source.takeText('.')) return oneOf(anyCodePoint);
    const name = this.source.take(nameForm);
    if (name === null) this.source.refuse(`unexpected ${JSON.stringify(next)}`);
    return this.reference(name, start);
  }
}
