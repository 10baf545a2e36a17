/** Arithmetic on a text: numbers, + - * / % ^, parentheses, a few functions and constants. Nothing is evaluated as code. */

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  ln: Math.log,
  log10: Math.log10,
  log2: Math.log2,
  exp: Math.exp,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  min: Math.min,
  max: Math.max,
};

const constants: Readonly<Record<string, number>> = {pi: Math.PI, e: Math.E};

type BinaryOperator = (left: number, right: number) => number;

/** From loose to tight. */
const levels: readonly Readonly<Record<string, BinaryOperator>>[] = [
  {'+': (left, right) => left + right, '-': (left, right) => left - right},
  {'*': (left, right) => left * right, '/': (left, right) => left / right, '%': (left, right) => left % right},
];

const token = /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|([a-z]\w*)|(\*\*|[-+*/%^(),]))/y;
const maxDepth = 200;

/** @throws Error that says where the expression is wrong */
export function calculate(expression: string): number {
  const parser = new Parser(tokenize(expression));
  return parser.parse();
}

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.toLowerCase().trimEnd();
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const start = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw new Error(`cannot read the expression at "${text.slice(start, start + 20).trim()}"`);
    tokens.push((match[1] ?? match[2] ?? match[3]!).replace('**', '^'));
  }
  return tokens;
}

class Parser {
  readonly #tokens: string[];
  #position = 0;
  #depth = 0;

  constructor(tokens: string[]) {
    this.#tokens = tokens;
  }

  parse(): number {
    const value = this.#binary(0);
    if (this.#position < this.#tokens.length) throw new Error(`unexpected "${this.#tokens[this.#position]}"`);
    return value;
  }

  #binary(level: number): number {
    const operators = levels[level];
    if (!operators) return this.#unary();
    let value = this.#binary(level + 1);
    for (let operator = this.#takeAny(operators); operator; operator = this.#takeAny(operators)) {
      value = operator(value, this.#binary(level + 1));
    }
    return value;
  }

  #takeAny(operators: Readonly<Record<string, BinaryOperator>>): BinaryOperator | null {
    const next = this.#tokens[this.#position];
    if (next === undefined || !Object.hasOwn(operators, next)) return null;
    this.#position++;
    return operators[next]!;
  }

  #unary(): number {
    if (++this.#depth > maxDepth) throw new Error('the expression is nested too deeply');
    try {
      if (this.#take('-')) return -this.#unary();
      if (this.#take('+')) return this.#unary();
      const base = this.#atom();
      return this.#take('^') ? base ** this.#unary() : base;
    } finally {
      this.#depth--;
    }
  }

  #atom(): number {
    if (this.#take('(')) return this.#inParentheses();
    const next = this.#tokens[this.#position++];
    if (next === undefined) throw new Error('the expression ends too early');
    if (/^[\d.]/.test(next)) return Number(next);
    if (Object.hasOwn(constants, next)) return constants[next]!;
    if (Object.hasOwn(functions, next)) return functions[next]!(...this.#values(next));
    throw new Error(`unknown name "${next}"`);
  }

  #inParentheses(): number {
    const value = this.#binary(0);
    this.#expect(')');
    return value;
  }

  #values(name: string): number[] {
    if (!this.#take('(')) throw new Error(`${name} needs parentheses`);
    const values = [this.#binary(0)];
    while (this.#take(',')) values.push(this.#binary(0));
    this.#expect(')');
    return values;
  }

  #take(wanted: string): boolean {
    if (this.#tokens[this.#position] !== wanted) return false;
    this.#position++;
    return true;
  }

  #expect(wanted: string): void {
    if (!this.#take(wanted)) throw new Error(`"${wanted}" is missing`);
  }
}
