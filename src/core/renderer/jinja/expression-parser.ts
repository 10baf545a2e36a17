/**
 * Expressions, by recursive descent with jinja2's precedence: `or`, `and`, `not`, comparison, `+ -`, `~`, `* / // %`,
 * `**`, unary, postfix, filters and tests. Its oddities are kept: `2 ** 3 ** 2` is 64, `-2 ** 2` is 4.
 */
import type {BinaryOperator} from './arithmetic.ts';
import type {CallExpression, CallSyntax, CompareOperator, Expression, FilterExpression} from './ast.ts';
import {PythonError} from './python-error.ts';
import {syntaxError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {describe, type TokenStream} from './token-stream.ts';
import type {Value} from './values.ts';

export const noArguments: CallSyntax = {positional: [], keyword: [], positionalSpread: null, keywordSpread: null};

/** Brackets, operators and blocks inside one another; Python gives up at about seventy brackets. */
const maxNesting = 150;
/** Operators, filters, calls and subscripts of one expression that follow each other. */
const maxChain = 1000;

const namedConstants: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

export interface TupleOptions {
  /** Names and literals only, as in targets. */
  simplified?: boolean;
  /** Conditional expressions are no part of it: `for x in a if b`. */
  withoutConditional?: boolean;
  /** A name that ends the tuple. */
  endName?: string;
  /** `()` is a tuple. */
  inBrackets?: boolean;
}

export class ExpressionParser {
  protected readonly stream: TokenStream;
  #depth = 0;

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  /** Reads on while there is more; each step makes the tree deeper, so there is a limit. */
  #chain(first: Expression, extend: (left: Expression) => Expression | null): Expression {
    let result = first;
    for (let links = 0; links < maxChain; links++) {
      const extended = extend(result);
      if (extended === null) return result;
      result = extended;
    }
    throw new PythonError('RecursionError', 'maximum recursion depth exceeded');
  }

  /** One level deeper; a source that nests without end must not end the stack. */
  protected nested<T>(parse: () => T): T {
    if (this.#depth >= maxNesting) throw new PythonError('RecursionError', 'maximum recursion depth exceeded');
    this.#depth++;
    const result = parse();
    this.#depth--;
    return result;
  }

  protected fail(message: string, offset = this.stream.current.start): never {
    throw syntaxError(message, offset);
  }

  /** Where the node that started at `start` and was just read stands. */
  protected span(start: number): {start: number; end: number} {
    return {start, end: this.stream.lastEnd};
  }

  parseExpression(): Expression {
    return this.nested(() => this.#parseConditional());
  }

  #parseConditional(): Expression {
    const {start} = this.stream.current;
    return this.#chain(this.#parseOr(), (whenTrue) => {
      if (!this.stream.skipName('if')) return null;
      const test = this.#parseOr();
      const whenFalse = this.stream.skipName('else') ? this.parseExpression() : null;
      return {type: 'conditional', test, whenTrue, whenFalse, ...this.span(start)};
    });
  }

  #parseOr(): Expression {
    return this.#parseLogical('or', () => this.#parseAnd());
  }

  #parseAnd(): Expression {
    return this.#parseLogical('and', () => this.#parseNot());
  }

  #parseLogical(operator: 'and' | 'or', parseOperand: () => Expression): Expression {
    const {start} = this.stream.current;
    return this.#chain(parseOperand(), (left) => {
      if (!this.stream.skipName(operator)) return null;
      return {type: 'logical', operator, left, right: parseOperand(), ...this.span(start)};
    });
  }

  #parseNot(): Expression {
    const {start} = this.stream.current;
    if (!this.stream.skipName('not')) return this.#parseCompare();
    const operand = this.nested(() => this.#parseNot());
    return {type: 'unary', operator: 'not', operand, ...this.span(start)};
  }

  #parseCompare(): Expression {
    const {start} = this.stream.current;
    const first = this.#parseSum();
    const rest: {operator: CompareOperator; operand: Expression}[] = [];
    for (let operator = this.#compareOperator(); operator; operator = this.#compareOperator()) {
      rest.push({operator, operand: this.#parseSum()});
    }
    return rest.length === 0 ? first : {type: 'compare', first, rest, ...this.span(start)};
  }

  #compareOperator(): CompareOperator | undefined {
    const {stream} = this;
    if (stream.atOperator('==', '!=', '<', '<=', '>', '>=')) return stream.next().text as CompareOperator;
    if (stream.skipName('in')) return 'in';
    const next = stream.atName('not') ? stream.look() : undefined;
    if (next?.type !== 'name' || next.text !== 'in') return undefined;
    stream.next();
    stream.next();
    return 'not in';
  }

  #parseSum(): Expression {
    return this.#parseBinary(['+', '-'], () => this.#parseConcat());
  }

  #parseConcat(): Expression {
    const {start} = this.stream.current;
    const items = [this.#parseProduct()];
    while (this.stream.skipOperator('~')) items.push(this.#parseProduct());
    return items.length === 1 ? items[0]! : {type: 'concat', items, ...this.span(start)};
  }

  #parseProduct(): Expression {
    return this.#parseBinary(['*', '/', '//', '%'], () => this.#parsePower());
  }

  #parsePower(): Expression {
    return this.#parseBinary(['**'], () => this.#parseUnary());
  }

  #parseBinary(operators: readonly BinaryOperator[], parseOperand: () => Expression): Expression {
    const {start} = this.stream.current;
    return this.#chain(parseOperand(), (left) => {
      if (!this.stream.atOperator(...operators)) return null;
      const operator = this.stream.next().text as BinaryOperator;
      return {type: 'binary', operator, left, right: parseOperand(), ...this.span(start)};
    });
  }

  /** A sign binds its operand before filters do: `-1|abs` is `(-1)|abs`. */
  #parseUnary(withFilters = true): Expression {
    const {start} = this.stream.current;
    const operand = this.#parseSigned(start);
    const node = this.parsePostfix(operand);
    return withFilters ? this.#parseFiltersAndTests(node) : node;
  }

  #parseSigned(start: number): Expression {
    if (!this.stream.atOperator('-', '+')) return this.parsePrimary();
    const operator = this.stream.next().text as '-' | '+';
    const operand = this.nested(() => this.#parseUnary(false));
    return {type: 'unary', operator, operand, ...this.span(start)};
  }

  protected parsePrimary(): Expression {
    const {stream} = this;
    const token = stream.current;
    switch (token.type) {
      case 'name':
        return this.#parseName();
      case 'string':
        return this.#parseStrings();
      case 'integer':
      case 'float':
        stream.next();
        return {type: 'constant', value: token.value, ...this.span(token.start)};
      default:
        return this.#parseBracketed();
    }
  }

  #parseName(): Expression {
    const {text: name, start} = this.stream.next();
    const value = namedConstants.get(name);
    if (value !== undefined) return {type: 'constant', value, ...this.span(start)};
    return {type: 'name', name, ...this.span(start)};
  }

  /** Strings next to each other are one. */
  #parseStrings(): Expression {
    const {start} = this.stream.current;
    let value = '';
    while (this.stream.is('string')) value += this.stream.next().value as string;
    return {type: 'constant', value, ...this.span(start)};
  }

  #parseBracketed(): Expression {
    if (this.stream.atOperator('(')) return this.#parseGroup();
    if (this.stream.atOperator('[')) return this.#parseList();
    if (this.stream.atOperator('{')) return this.#parseDict();
    return this.fail(`unexpected ${stringRepr(describe(this.stream.current))}`);
  }

  #parseGroup(): Expression {
    this.stream.next();
    const inner = this.parseTuple({inBrackets: true});
    this.stream.expectOperator(')');
    return inner;
  }

  #parseList(): Expression {
    const {start} = this.stream.next();
    const items = this.#parseItems(']', () => this.parseExpression());
    return {type: 'list', items, ...this.span(start)};
  }

  #parseDict(): Expression {
    const {start} = this.stream.next();
    const entries = this.#parseItems('}', () => {
      const key = this.parseExpression();
      this.stream.expectOperator(':');
      return {key, value: this.parseExpression()};
    });
    return {type: 'dict', entries, ...this.span(start)};
  }

  /** Items with commas between them, one more comma allowed at the end, up to the closing bracket. */
  #parseItems<T>(closer: string, parseItem: () => T): T[] {
    const items: T[] = [];
    while (!this.stream.atOperator(closer)) {
      if (items.length > 0) this.stream.expectOperator(',');
      if (this.stream.atOperator(closer)) break;
      items.push(parseItem());
    }
    this.stream.expectOperator(closer);
    return items;
  }

  /** One expression, or a tuple when there are commas. */
  parseTuple(options: TupleOptions = {}): Expression {
    const {start} = this.stream.current;
    const items: Expression[] = [];
    let hasComma = false;
    for (;;) {
      if (items.length > 0) this.stream.expectOperator(',');
      if (this.#isTupleEnd(options)) break;
      items.push(this.#parseTupleItem(options));
      if (!this.stream.atOperator(',')) break;
      hasComma = true;
    }
    if (!hasComma && items.length > 0) return items[0]!;
    if (!hasComma && !options.inBrackets) {
      this.fail(`Expected an expression, got ${stringRepr(describe(this.stream.current))}`);
    }
    return {type: 'tuple', items, ...this.span(start)};
  }

  #parseTupleItem({simplified, withoutConditional}: TupleOptions): Expression {
    if (simplified) return this.parsePrimary();
    return withoutConditional ? this.nested(() => this.#parseOr()) : this.parseExpression();
  }

  #isTupleEnd({endName}: TupleOptions): boolean {
    const {stream} = this;
    if (stream.is('variable_end') || stream.is('block_end') || stream.atOperator(')')) return true;
    return endName !== undefined && stream.atName(endName);
  }

  protected parsePostfix(operand: Expression): Expression {
    return this.#chain(operand, (node) => {
      if (this.stream.atOperator('.', '[')) return this.#parseSubscript(node);
      return this.stream.atOperator('(') ? this.#parseCall(node) : null;
    });
  }

  #parseFiltersAndTests(operand: Expression): Expression {
    return this.#chain(operand, (node) => {
      if (this.stream.skipOperator('|')) return this.parseFilter(node, node.start);
      if (this.stream.atName('is')) return this.#parseTest(node);
      return this.stream.atOperator('(') ? this.#parseCall(node) : null;
    });
  }

  #parseSubscript(object: Expression): Expression {
    const bracket = this.stream.next();
    if (bracket.text === '.') return this.#parseAttribute(object);
    const keys: Expression[] = [];
    while (!this.stream.atOperator(']')) {
      if (keys.length > 0) this.stream.expectOperator(',');
      keys.push(this.#parseKey());
    }
    this.stream.expectOperator(']');
    const tuple: Expression = {type: 'tuple', items: keys, ...this.span(bracket.start)};
    return {type: 'item', object, key: keys.length === 1 ? keys[0]! : tuple, ...this.span(object.start)};
  }

  #parseAttribute(object: Expression): Expression {
    const token = this.stream.next();
    const span = this.span(object.start);
    if (token.type === 'name') return {type: 'attribute', object, name: token.text, ...span};
    if (token.type !== 'integer') this.fail('expected name or number', token.start);
    const key: Expression = {type: 'constant', value: token.value, start: token.start, end: token.end};
    return {type: 'item', object, key, ...span};
  }

  #parseKey(): Expression {
    const {start} = this.stream.current;
    const from = this.stream.atOperator(':') ? null : this.parseExpression();
    if (from !== null && !this.stream.atOperator(':')) return from;
    this.stream.next();
    const to = this.#parseBound();
    const step = this.stream.skipOperator(':') ? this.#parseBound() : null;
    return {type: 'slice', from, to, step, ...this.span(start)};
  }

  #parseBound(): Expression | null {
    return this.stream.atOperator(':', ']', ',') ? null : this.parseExpression();
  }

  #parseCall(callee: Expression): CallExpression {
    const call = this.parseArguments();
    return {type: 'call', callee, call, ...this.span(callee.start)};
  }

  protected parseArguments(): CallSyntax {
    const {start} = this.stream.expectOperator('(');
    const call = {
      positional: [] as Expression[],
      keyword: [] as {name: string; value: Expression}[],
      positionalSpread: null as Expression | null,
      keywordSpread: null as Expression | null,
    };
    let isFirst = true;
    while (!this.stream.atOperator(')')) {
      if (!isFirst) this.stream.expectOperator(',');
      if (!isFirst && this.stream.atOperator(')')) break;
      this.#parseArgument(call, start);
      isFirst = false;
    }
    this.stream.expectOperator(')');
    return call;
  }

  /** Adds one argument; the order is positional, keyword, `*`, `**`, where keywords may follow `*`. */
  #parseArgument(call: {-readonly [Key in keyof CallSyntax]: CallSyntax[Key]}, start: number): void {
    const ensure = (isAllowed: boolean) => {
      if (!isAllowed) this.fail('invalid syntax for function call expression', start);
    };
    if (this.stream.skipOperator('*')) {
      ensure(call.positionalSpread === null && call.keywordSpread === null);
      call.positionalSpread = this.parseExpression();
    } else if (this.stream.skipOperator('**')) {
      ensure(call.keywordSpread === null);
      call.keywordSpread = this.parseExpression();
    } else if (this.#atKeyword()) {
      ensure(call.keywordSpread === null);
      const name = this.stream.next().text;
      this.stream.next();
      call.keyword = [...call.keyword, {name, value: this.parseExpression()}];
    } else {
      ensure(call.positionalSpread === null && call.keywordSpread === null && call.keyword.length === 0);
      call.positional = [...call.positional, this.parseExpression()];
    }
  }

  #atKeyword(): boolean {
    if (!this.stream.is('name')) return false;
    const next = this.stream.look();
    return next.type === 'operator' && next.text === '=';
  }

  /** The filters of a block's text, one in another: `|first|second`; null without any. */
  protected parseBlockFilters(first: FilterExpression | null): FilterExpression | null {
    let filter = first;
    for (let links = 0; this.stream.skipOperator('|'); links++) {
      if (links >= maxChain) this.fail('too many filters');
      filter = this.parseFilter(filter, filter?.start ?? this.stream.current.start);
    }
    return filter;
  }

  protected parseFilter(operand: Expression | null, start: number): FilterExpression {
    const nameStart = this.stream.current.start;
    const name = this.#dottedName();
    const call = this.stream.atOperator('(') ? this.parseArguments() : noArguments;
    return {type: 'filter', name, nameStart, operand, call, ...this.span(start)};
  }

  #dottedName(): string {
    let name = this.stream.expect('name').text;
    while (this.stream.skipOperator('.')) name += `.${this.stream.expect('name').text}`;
    return name;
  }

  #parseTest(operand: Expression): Expression {
    this.stream.next();
    const isNegated = this.stream.skipName('not');
    const nameStart = this.stream.current.start;
    const name = this.#dottedName();
    const call = this.#testArguments();
    const test: Expression = {type: 'test', name, nameStart, operand, call, ...this.span(operand.start)};
    return isNegated ? {type: 'unary', operator: 'not', operand: test, ...this.span(operand.start)} : test;
  }

  /** In brackets, or one argument without any. */
  #testArguments(): CallSyntax {
    const {stream} = this;
    if (stream.atOperator('(')) return this.parseArguments();
    const startsOperand = ['name', 'string', 'integer', 'float'].includes(stream.current.type);
    if (!startsOperand && !stream.atOperator('[', '{')) return noArguments;
    if (stream.atName('else', 'or', 'and')) return noArguments;
    if (stream.atName('is')) this.fail('You cannot chain multiple tests with is');
    return {...noArguments, positional: [this.parsePostfix(this.parsePrimary())]};
  }
}
