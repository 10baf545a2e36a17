/**
 * Grammars as GBNF texts, the form that xgrammar and llama.cpp read: `root ::= "yes" | [0-9]+`. Rules may span lines; the
 * first one of an answer is called `root`.
 */
import {anyCodePoint} from './code-point-ranges.ts';
import {
  choice,
  type Grammar,
  GrammarBuilder,
  type GrammarNode,
  nothing,
  oneOf,
  rule,
  sequence,
  text,
} from './grammar.ts';
import {GrammarText} from './grammar-text.ts';

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

class EbnfReader {
  readonly #source: GrammarText;
  readonly #builder: GrammarBuilder;
  /** Name in the text -> name of the rule. */
  readonly #names = new Map<string, string>();
  readonly #defined = new Set<string>();
  readonly #used: {name: string; position: number}[] = [];

  constructor(source: string, builder: GrammarBuilder) {
    this.#source = new GrammarText(source, 'grammar', blank);
    this.#builder = builder;
  }

  readAll(): GrammarNode {
    this.#source.skipBlank();
    while (!this.#source.isAtEnd) this.#readRule();
    for (const {name, position} of this.#used) {
      if (!this.#defined.has(name)) this.#source.refuse(`rule "${name}" is not defined`, position);
    }
    if (!this.#defined.has('root')) this.#source.refuse('there is no rule "root"', 0);
    return this.#reference('root');
  }

  #readRule(): void {
    const start = this.#source.position;
    const name = this.#source.take(nameForm);
    if (name === null || !this.#source.takeText('::=')) this.#source.refuse('a rule (name ::= …) is expected', start);
    if (this.#defined.has(name)) this.#source.refuse(`rule "${name}" is defined twice`, start);
    this.#defined.add(name);
    const node = this.#readAlternatives();
    if (!this.#source.isAtEnd && !this.#source.looksAt(definitionForm))
      this.#source.refuse('this is not expected here');
    this.#builder.define(this.#nameOf(name), node);
  }

  #readAlternatives(): GrammarNode {
    const options = [this.#readSequence()];
    while (this.#source.takeText('|')) options.push(this.#readSequence());
    return choice(...options);
  }

  #readSequence(): GrammarNode {
    const parts: GrammarNode[] = [];
    while (!this.#source.isAtEnd && !'|)'.includes(this.#source.next) && !this.#source.looksAt(definitionForm)) {
      parts.push(this.#source.repeated(this.#readElement()));
    }
    if (parts.length === 0) this.#source.refuse('an element is expected; write "" for the empty text');
    return sequence(...parts);
  }

  #readElement(): GrammarNode {
    const start = this.#source.position;
    const {next} = this.#source;
    if (next === '"' || next === "'") return text(this.#source.takeQuoted());
    if (next === '[') return oneOf(this.#source.takeClass());
    if (next === '(') return this.#readGroup();
    if (this.#source.takeText('.')) return oneOf(anyCodePoint);
    const name = this.#source.take(nameForm);
    if (name === null) this.#source.refuse(`unexpected ${JSON.stringify(next)}`);
    this.#used.push({name, position: start});
    return this.#reference(name);
  }

  #readGroup(): GrammarNode {
    const start = this.#source.position;
    this.#source.takeText('(');
    if (this.#source.takeText('=')) this.#source.refuse('look-ahead is not supported', start);
    if (this.#source.takeText(')')) return nothing;
    const node = this.#readAlternatives();
    if (!this.#source.takeText(')')) this.#source.refuse('the group is not closed', start);
    return node;
  }

  #reference(name: string): GrammarNode {
    return rule(this.#nameOf(name));
  }

  #nameOf(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const reserved = this.#builder.reserve(name);
    this.#names.set(name, reserved);
    return reserved;
  }
}
