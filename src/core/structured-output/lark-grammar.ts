/**
 * Grammars as Lark texts: `start: "yes" | /[0-9]+/`. Rules and terminals, texts in any case, regular expressions, ranges,
 * groups, optional parts, counts, aliases and imports of Lark's own terminals are read. What `%ignore` names may stand
 * around every terminal, as a lexer would skip it; templates are refused.
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
import {commonTerminals} from './lark-terminals.ts';
import {NotationReader} from './notation-reader.ts';
import {inAnyCase, regexGrammar} from './regex-grammar.ts';

const nameForm = /[?!]?[A-Za-z_][A-Za-z0-9_]*/y;
const definitionForm = /[?!]*[A-Za-z_][A-Za-z0-9_]*(\.-?\d+)?\s*:/y;
const terminalForm = /^_?[A-Z]/;
/** A bracket opens a class and is nothing else, or a text of brackets would take for ever. */
const regexForm = /\/(?!\/)(\\.|\[(\\.|[^\]\\\n])*\]|[^\\/\n[])+\/[a-z]*/y;
const numberForm = /-?\d+/y;
const blank = /(\s|\/\/[^\n]*|#[^\n]*)*/y;
/** White space of one line: across lines, every line would look at all that follow. */
const ignoreForm = /^[^\S\n\r\u2028\u2029]*%ignore\b/m;
/** Around what `%ignore` names. */
const ignoredRule = 'ignored';

/** @throws ValidationError with line and column */
export function larkGrammar(source: string): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(new LarkReader(source, builder).readAll(), {namesSpecialTokens: true});
}

class LarkReader extends NotationReader {
  protected readonly closers = '|)]';
  readonly #ignored: GrammarNode[] = [];
  readonly #ignores: boolean;
  /** Within a terminal nothing is ignored. */
  #isInTerminal = false;

  constructor(source: string, builder: GrammarBuilder) {
    super(new GrammarText(source, 'grammar', blank), builder);
    this.#ignores = ignoreForm.test(source);
    if (this.#ignores) builder.reserve(ignoredRule);
  }

  readAll(): GrammarNode {
    const start = this.readRules('start');
    if (!this.#ignores) return start;
    this.builder.define(ignoredRule, repeat(choice(...this.#ignored), 0));
    return sequence(rule(ignoredRule), start);
  }

  protected get startsRule(): boolean {
    return this.source.next === '%' || this.source.looksAt(definitionForm);
  }

  protected readRule(): void {
    const start = this.source.position;
    if (this.source.takeText('%import')) return this.#readImport(start);
    if (this.source.takeText('%ignore')) return this.#readIgnore();
    if (this.source.next === '%') this.source.refuse('of the directives, %import and %ignore are supported');
    while (this.source.takeText('?') || this.source.takeText('!'));
    const name = this.source.take(nameForm);
    if (name !== null && this.source.takeText('.')) this.source.take(numberForm);
    if (name === null || !this.source.takeText(':')) this.source.refuse('a rule (name: …) is expected', start);
    this.#defineAs(name, start, () => this.readWholeRule());
  }

  /** What is ignored may follow a terminal, and nothing within it. */
  #defineAs(name: string, start: number, read: () => GrammarNode): void {
    this.#isInTerminal = terminalForm.test(name);
    this.define(name, start, read);
    this.#isInTerminal = false;
  }

  /** `%import common.INT`, with ` -> NAME`, or `%import common (INT, WS)`. */
  #readImport(start: number): void {
    if (!this.source.takeText('common')) this.source.refuse('only terminals of "common" can be imported', start);
    if (this.source.takeText('.')) {
      const name = this.source.take(nameForm) ?? this.source.refuse('a name is expected');
      return this.#importAs(name, this.source.takeText('->') ? this.source.take(nameForm) : name, start);
    }
    if (!this.source.takeText('(')) this.source.refuse('a name or a list of names is expected');
    do {
      const name = this.source.take(nameForm) ?? this.source.refuse('a name is expected');
      this.#importAs(name, name, start);
    } while (this.source.takeText(','));
    if (!this.source.takeText(')')) this.source.refuse('the list is not closed');
  }

  #importAs(name: string, alias: string | null, start: number): void {
    const pattern = Object.hasOwn(commonTerminals, name) ? commonTerminals[name] : undefined;
    if (pattern === undefined || alias === null) this.source.refuse(`there is no terminal common.${name}`, start);
    this.#defineAs(alias, start, () => regexGrammar(pattern, {place: `grammar, common.${name}`}));
  }

  #readIgnore(): void {
    this.#isInTerminal = true;
    this.#ignored.push(this.readAlternatives());
    this.#isInTerminal = false;
  }

  protected override readSequence(): GrammarNode {
    const node = super.readSequence();
    if (this.source.takeText('->')) this.source.take(nameForm);
    return node;
  }

  protected override get isAtSequenceEnd(): boolean {
    return super.isAtSequenceEnd || this.source.looksAt(/->/y);
  }

  protected readCounted(): GrammarNode {
    const node = this.source.repeated(this.#readElement());
    if (!this.source.takeText('~')) return node;
    const min = Number(this.source.take(numberForm) ?? this.source.refuse('a count is expected'));
    const max = this.source.takeText('..') ? Number(this.source.take(numberForm)) : min;
    if (min < 0 || max < min) this.source.refuse('the counts are in the wrong order');
    return repeat(node, min, max);
  }

  #readElement(): GrammarNode {
    const start = this.source.position;
    const {next} = this.source;
    if (next === '"') return this.#skipping(this.#readText());
    if (next === '/') return this.#skipping(this.#readRegex());
    if (next === '(') return this.readGroup('(', ')');
    if (next === '[') return optional(this.readGroup('[', ']'));
    const name = this.source.take(nameForm);
    if (name === null) this.source.refuse(`unexpected ${JSON.stringify(next)}`);
    const used = this.reference(name, start);
    return terminalForm.test(name) ? this.#skipping(used) : used;
  }

  #skipping(terminal: GrammarNode): GrammarNode {
    return this.#ignores && !this.#isInTerminal ? sequence(terminal, rule(ignoredRule)) : terminal;
  }

  /** A text, in any case when an `i` follows, or the range that begins with it. */
  #readText(): GrammarNode {
    const start = this.source.position;
    const first = this.source.takeQuoted();
    if (this.source.take(/i(?![A-Za-z0-9_])/y) !== null) return inAnyCase(first);
    if (!this.source.takeText('..')) return text(first);
    const last = this.source.takeQuoted();
    if ([...first].length !== 1 || [...last].length !== 1 || last < first)
      this.source.refuse('this is no range', start);
    return oneOf([range(first, last)]);
  }

  #readRegex(): GrammarNode {
    const start = this.source.position;
    const found = this.source.take(regexForm);
    if (found === null) this.source.refuse('the regular expression is not closed');
    const end = found.lastIndexOf('/');
    const flags = found.slice(end + 1);
    if (!/^[is]*$/.test(flags)) this.source.refuse('of the flags, i and s are supported', start);
    return regexGrammar(found.slice(1, end).replaceAll('\\/', '/'), {
      place: `grammar, ${found}`,
      ignoresCase: flags.includes('i'),
      dotTakesLineEnds: flags.includes('s'),
    });
  }
}
