/**
 * Grammars as Lark texts: `start: "yes" | /[0-9]+/`. Rules and terminals, texts, regular expressions, ranges, groups,
 * optional parts, counts and aliases are read; imports, `%ignore` and templates are refused, because they would mean
 * something else than they say when there is no lexer.
 */
import {range} from './code-point-ranges.ts';
import {
  choice,
  type Grammar,
  GrammarBuilder,
  type GrammarNode,
  oneOf,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from './grammar.ts';
import {GrammarText} from './grammar-text.ts';
import {regexGrammar} from './regex-grammar.ts';

const nameForm = /[?!]?[A-Za-z_][A-Za-z0-9_]*/y;
const definitionForm = /[?!]*[A-Za-z_][A-Za-z0-9_]*(\.-?\d+)?\s*:/y;
const regexForm = /\/(?!\/)(\\.|[^\\/\n])+\/[a-z]*/y;
const numberForm = /\d+/y;
const blank = /(\s|\/\/[^\n]*|#[^\n]*)*/y;

/** @throws ValidationError with line and column */
export function larkGrammar(source: string): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(new LarkReader(source, builder).readAll(), {namesSpecialTokens: true});
}

class LarkReader {
  readonly #source: GrammarText;
  readonly #builder: GrammarBuilder;
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
    if (!this.#defined.has('start')) this.#source.refuse('there is no rule "start"', 0);
    return rule('start');
  }

  #readRule(): void {
    const start = this.#source.position;
    if (this.#source.next === '%') this.#source.refuse('directives (%import, %ignore …) are not supported');
    while (this.#source.takeText('?') || this.#source.takeText('!'));
    const name = this.#source.take(nameForm);
    if (name !== null && this.#source.takeText('.')) this.#source.take(numberForm);
    if (name === null || !this.#source.takeText(':')) this.#source.refuse('a rule (name: …) is expected', start);
    if (this.#defined.has(name)) this.#source.refuse(`rule "${name}" is defined twice`, start);
    this.#defined.add(name);
    this.#builder.define(name, this.#readAlternatives());
    if (!this.#source.isAtEnd && !this.#startsRule) this.#source.refuse('this is not expected here');
  }

  get #startsRule(): boolean {
    return this.#source.next === '%' || this.#source.looksAt(definitionForm);
  }

  #readAlternatives(): GrammarNode {
    const options = [this.#readSequence()];
    while (this.#source.takeText('|')) options.push(this.#readSequence());
    return choice(...options);
  }

  /** May be empty. */
  #readSequence(): GrammarNode {
    const parts: GrammarNode[] = [];
    while (!this.#source.isAtEnd && !'|)]'.includes(this.#source.next) && !this.#startsRule) {
      if (this.#source.takeText('->')) {
        this.#source.take(nameForm);
        break;
      }
      parts.push(this.#readCounted());
    }
    return sequence(...parts);
  }

  #readCounted(): GrammarNode {
    const node = this.#source.repeated(this.#readElement());
    if (!this.#source.takeText('~')) return node;
    const min = Number(this.#source.take(numberForm) ?? this.#source.refuse('a count is expected'));
    const max = this.#source.takeText('..') ? Number(this.#source.take(numberForm)) : min;
    if (max < min) this.#source.refuse('the counts are in the wrong order');
    return repeat(node, min, max);
  }

  #readElement(): GrammarNode {
    const start = this.#source.position;
    const {next} = this.#source;
    if (next === '"') return this.#readText();
    if (next === '/') return this.#readRegex();
    if (next === '(') return this.#readGroup('(', ')');
    if (next === '[') return optional(this.#readGroup('[', ']'));
    const name = this.#source.take(nameForm);
    if (name === null) this.#source.refuse(`unexpected ${JSON.stringify(next)}`);
    this.#used.push({name, position: start});
    return rule(name);
  }

  /** A text, or the range that begins with it. */
  #readText(): GrammarNode {
    const start = this.#source.position;
    const first = this.#source.takeQuoted();
    if (this.#source.next === 'i') this.#source.refuse('texts in any case ("…"i) are not supported', start);
    if (!this.#source.takeText('..')) return text(first);
    const last = this.#source.takeQuoted();
    if ([...first].length !== 1 || [...last].length !== 1 || last < first)
      this.#source.refuse('this is no range', start);
    return oneOf([range(first, last)]);
  }

  #readRegex(): GrammarNode {
    const start = this.#source.position;
    const found = this.#source.take(regexForm);
    if (found === null) this.#source.refuse('the regular expression is not closed');
    const end = found.lastIndexOf('/');
    if (end !== found.length - 1) this.#source.refuse('flags of regular expressions are not supported', start);
    return regexGrammar(found.slice(1, end).replaceAll('\\/', '/'), {place: `grammar, ${found}`});
  }

  #readGroup(open: string, close: string): GrammarNode {
    const start = this.#source.position;
    this.#source.takeText(open);
    const node = this.#readAlternatives();
    if (!this.#source.takeText(close)) this.#source.refuse('the group is not closed', start);
    return node;
  }
}
