/**
 * A JSON reader with the rules and the error texts of Python's: integers keep all digits, `1.0` stays a float, `NaN`
 * and `Infinity` are accepted, the last of two equal keys wins. Text in, plain values out.
 *
 * How numbers come out: an integer as a number, or as a bigint beyond 2^53; a float with a fraction (and NaN and the
 * infinities) as a number; a float without one, such as `1.0` or `1e3`, as a `JsonFloat`. So a number that is an
 * integer was written as one. `toPlainJson` gives the difference up.
 */

/** A float literal whose value is an integer. */
export class JsonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  valueOf(): number {
    return this.value;
  }

  toJSON(): number {
    return this.value;
  }
}

/** Malformed JSON; the message is the text of Python's reader. */
export class JsonSyntaxError extends Error {
  /** Index of the character at fault. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'JsonSyntaxError';
    this.position = position;
  }
}

/** An integer of more digits than Python reads; its reader does not call that malformed. */
export class JsonIntegerError extends JsonSyntaxError {}

/** True for what a JSON object becomes, and for no array, null or `JsonFloat`. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat);
}

/** Python reads no longer integers (sys.int_info.default_max_str_digits). */
export const MAX_INTEGER_DIGITS = 4300;
/** Deeper nesting is refused, as Python's reader does (its recursion limit). */
const MAX_DEPTH = 900;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const WHITESPACE = /[ \t\n\r]*/y;
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const UNICODE_ESCAPE = /[0-9a-fA-F]{4}/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const WORDS: [string, unknown][] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

class Reader {
  private position = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  readDocument(): unknown {
    this.skipWhitespace();
    const value = this.readValue(0);
    this.skipWhitespace();
    if (this.position < this.text.length) this.fail('Extra data');
    return value;
  }

  private readValue(depth: number): unknown {
    if (depth > MAX_DEPTH) this.fail('maximum recursion depth exceeded while decoding a JSON document');
    const character = this.text[this.position];
    if (character === '"') return this.readString();
    if (character === '{') return this.readObject(depth);
    if (character === '[') return this.readArray(depth);
    if (character >= '0' && character <= '9') return this.readNumber();
    return this.readWord() ?? this.readNumber();
  }

  /** Null is wrapped, so that `??` can tell it from "no word here". */
  private readWord(): unknown {
    const word = WORDS.find(([name]) => this.text.startsWith(name, this.position));
    if (!word) return undefined;
    this.position += word[0].length;
    return word[1] === null ? NULL : word[1];
  }

  private readNumber(): unknown {
    const match = this.match(NUMBER);
    if (!match) return this.fail('Expecting value');
    const [literal, fraction, exponent] = match;
    const isInteger = fraction === undefined && exponent === undefined;
    if (isInteger && literal.replace('-', '').length > MAX_INTEGER_DIGITS) {
      throw new JsonIntegerError(
        `Exceeds the limit (${MAX_INTEGER_DIGITS} digits) for integer string conversion`,
        this.position,
      );
    }
    return isInteger ? integerValue(literal) : floatValue(literal);
  }

  private readString(): string {
    const start = this.position++;
    let result = '';
    for (;;) {
      result += this.match(PLAIN_CHARACTERS)?.[0] ?? '';
      const character = this.text[this.position++];
      if (character === '"') return result;
      if (character === undefined) this.fail('Unterminated string starting at', start);
      if (character !== '\\') this.fail('Invalid control character at', this.position - 1);
      result += this.readEscape(start);
    }
  }

  private readEscape(start: number): string {
    const character = this.text[this.position++];
    if (character === undefined) this.fail('Unterminated string starting at', start);
    if (character === 'u') return this.readUnicodeEscape();
    return ESCAPES[character] ?? this.fail('Invalid \\escape', this.position - 2);
  }

  private readUnicodeEscape(): string {
    const digits = this.match(UNICODE_ESCAPE);
    if (!digits) return this.fail('Invalid \\uXXXX escape', this.position - 1);
    return String.fromCharCode(Number.parseInt(digits[0], 16));
  }

  private readArray(depth: number): unknown[] {
    const values: unknown[] = [];
    this.position++;
    this.skipWhitespace();
    if (this.take(']')) return values;
    for (;;) {
      values.push(unwrapNull(this.readValue(depth + 1)));
      this.skipWhitespace();
      if (this.take(']')) return values;
      if (!this.take(',')) this.fail("Expecting ',' delimiter");
      this.skipWhitespace();
    }
  }

  private readObject(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const keys: string[] = [];
    this.position++;
    this.skipWhitespace();
    if (this.take('}')) return object;
    for (;;) {
      keys.push(this.readMember(object, depth));
      if (this.take('}')) return withKeyOrder(object, keys);
      if (!this.take(',')) this.fail("Expecting ',' delimiter");
      this.skipWhitespace();
    }
  }

  /** @returns the member's key */
  private readMember(object: Record<string, unknown>, depth: number): string {
    if (this.text[this.position] !== '"') this.fail('Expecting property name enclosed in double quotes');
    const key = this.readString();
    this.skipWhitespace();
    if (!this.take(':')) this.fail("Expecting ':' delimiter");
    this.skipWhitespace();
    setOwn(object, key, unwrapNull(this.readValue(depth + 1)));
    this.skipWhitespace();
    return key;
  }

  private take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position++;
    return true;
  }

  private skipWhitespace(): void {
    this.match(WHITESPACE);
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (match) this.position += match[0].length;
    return match;
  }

  private fail(message: string, position = this.position): never {
    throw new JsonSyntaxError(message, position);
  }
}

const NULL = Symbol('null');

function unwrapNull(value: unknown): unknown {
  return value === NULL ? null : value;
}

/** A key such as `__proto__` must become a property, not the prototype. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, {value, enumerable: true, configurable: true, writable: true});
}

/** Key orders that a JavaScript object loses: it moves keys that look like numbers to the front. */
const keyOrders = new WeakMap<object, readonly string[]>();
const NUMBER_LIKE_KEY = /^\d+$/;

function withKeyOrder<T>(object: Record<string, T>, keys: readonly string[]): Record<string, T> {
  if (keys.some((key) => NUMBER_LIKE_KEY.test(key))) keyOrders.set(object, [...new Set(keys)]);
  return object;
}

/** The members of an object in the order of its JSON text, for an object that was not changed since it was made. */
export function orderedEntries<T>(object: Readonly<Record<string, T>>): [string, T][] {
  const keys = keyOrders.get(object);
  return keys ? keys.map((key) => [key, object[key] as T]) : Object.entries(object);
}

/** An object whose `orderedEntries` are these. */
export function objectFromEntries<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const keys = entries.map(([key]) => key);
  return withKeyOrder(Object.fromEntries(entries), keys);
}

function integerValue(literal: string): number | bigint {
  const value = Number(literal);
  return Number.isSafeInteger(value) ? value + 0 : BigInt(literal);
}

function floatValue(literal: string): number | JsonFloat {
  const value = Number(literal);
  return Number.isInteger(value) ? new JsonFloat(value) : value;
}

/**
 * Reads one JSON document.
 * @throws JsonSyntaxError with the text and position that Python's reader gives
 */
export function parseJson(text: string): unknown {
  return unwrapNull(new Reader(text).readDocument());
}

/** The same value with every number as a JavaScript number. */
export function toPlainJson(value: unknown): unknown {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) setOwn(copy, key, toPlainJson(entry));
  return copy;
}
