/**
 * The kinds of objects that the engine itself makes: Undefined, escaped text, iterators, ranges, namespaces, functions.
 * Macros and loops are kinds of their own, next to the evaluator.
 */
import {PythonError} from './python-error.ts';
import {type CallArguments, type HashKey, hashKey, type PyDict, PyObject, PyTuple, type Value} from './values.ts';

/** All undefined values are one key of a dict. */
const undefinedHash = {};

/** What a missing name, attribute or element gives: prints empty, is false, and fails when it is used. */
export class Undefined extends PyObject {
  readonly typeName = 'Undefined';
  readonly #describe: () => string;
  readonly #kind: 'UndefinedError' | 'SecurityError';

  private constructor(describe: () => string, kind: 'UndefinedError' | 'SecurityError' = 'UndefinedError') {
    super();
    this.#describe = describe;
    this.#kind = kind;
  }

  /** A variable that does not exist. */
  static ofName(name: string): Undefined {
    return new Undefined(() => `'${name}' is undefined`);
  }

  /** Said in full: an `if` expression without `else`, a loop at its border. */
  static ofHint(hint: string): Undefined {
    return new Undefined(() => hint);
  }

  /** @param describe makes the text when it is needed, which is seldom */
  static lazily(describe: () => string): Undefined {
    return new Undefined(describe);
  }

  /** Something that the sandbox refuses. */
  static unsafe(text: string): Undefined {
    return new Undefined(() => text, 'SecurityError');
  }

  /** The error of using it. */
  error(): PythonError {
    return new PythonError(this.#kind, this.#describe());
  }

  override toRepr(): string {
    return 'Undefined';
  }

  override toText(): string {
    return '';
  }

  override isTrue(): boolean {
    return false;
  }

  override *iterate(): Iterator<Value> {}

  override length(): number {
    return 0;
  }

  override call(): Value {
    throw this.error();
  }

  override hashKey(): HashKey {
    return undefinedHash;
  }

  override equals(other: Value): boolean {
    return other instanceof Undefined;
  }
}

/** A str that counts as escaped. */
export class Markup extends PyObject {
  readonly typeName = 'Markup';
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override toRepr(repr: (value: Value) => string): string {
    return `Markup(${repr(this.text)})`;
  }

  override toText(): string {
    return this.text;
  }

  override isTrue(): boolean {
    return this.text !== '';
  }

  override hashKey(): HashKey {
    return hashKey(this.text);
  }
}

/** An iterator: can be walked once. Filters such as `map` and `select` give one. */
export class PyIterator extends PyObject {
  readonly typeName: string;
  readonly #iterator: Iterator<Value>;

  constructor(iterator: Iterator<Value>, typeName = 'generator') {
    super();
    this.#iterator = iterator;
    this.typeName = typeName;
  }

  override toRepr(): string {
    return this.typeName === 'generator' ? '<generator object>' : `<${this.typeName} object>`;
  }

  override iterate(): Iterator<Value> {
    return this.#iterator;
  }
}

export type DictViewKind = 'keys' | 'values' | 'items';

/** What `dict.keys()`, `.values()` and `.items()` give: a view that can be walked again and again. */
export class DictView extends PyObject {
  readonly typeName: string;
  readonly dict: PyDict;
  readonly kind: DictViewKind;

  constructor(dict: PyDict, kind: DictViewKind) {
    super();
    this.typeName = `dict_${kind}`;
    this.dict = dict;
    this.kind = kind;
  }

  override toRepr(repr: (value: Value) => string): string {
    return `${this.typeName}(${repr([...this.elements()])})`;
  }

  override length(): number {
    return this.dict.size;
  }

  override iterate(): Iterator<Value> {
    return this.elements();
  }

  /** Views of keys are sets. */
  override equals(other: Value): boolean {
    if (!(other instanceof DictView) || this.kind !== 'keys' || other.kind !== 'keys') return false;
    return this.dict.size === other.dict.size && [...this.dict.keys()].every((key) => other.dict.has(key));
  }

  *elements(): IterableIterator<Value> {
    if (this.kind === 'keys') yield* this.dict.keys();
    else if (this.kind === 'values') yield* this.dict.values();
    else for (const entry of this.dict.entries()) yield new PyTuple(entry);
  }
}

/** `range(…)`. */
export class PyRange extends PyObject {
  readonly typeName = 'range';
  readonly start: number;
  readonly stop: number;
  readonly step: number;

  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  override toRepr(): string {
    const step = this.step === 1 ? '' : `, ${this.step}`;
    return `range(${this.start}, ${this.stop}${step})`;
  }

  override length(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }

  override *iterate(): Iterator<Value> {
    const length = this.length();
    for (let index = 0; index < length; index++) yield this.start + index * this.step;
  }

  override equals(other: Value): boolean {
    if (!(other instanceof PyRange) || other.length() !== this.length()) return false;
    if (this.length() === 0) return true;
    return other.start === this.start && (this.length() === 1 || other.step === this.step);
  }
}

/** `namespace(…)`: the one thing whose attributes a template may set. */
export class Namespace extends PyObject {
  readonly typeName = 'Namespace';
  readonly attributes: PyDict;

  constructor(attributes: PyDict) {
    super();
    this.attributes = attributes;
  }

  override toRepr(repr: (value: Value) => string): string {
    return `<Namespace ${repr(this.attributes)}>`;
  }

  override attribute(name: string): Value | undefined {
    return this.attributes.get(name);
  }

  override item(key: Value): Value | undefined {
    return this.attributes.get(key);
  }
}

/** A function of the engine, or a method bound to its object. */
export class PyFunction extends PyObject {
  readonly typeName: string;
  readonly name: string;
  readonly #call: (callArguments: CallArguments) => Value;
  readonly #attributes: Readonly<Record<string, Value>>;

  constructor(
    name: string,
    call: (callArguments: CallArguments) => Value,
    options: {typeName?: string; attributes?: Readonly<Record<string, Value>>} = {},
  ) {
    super();
    this.name = name;
    this.typeName = options.typeName ?? 'function';
    this.#call = call;
    this.#attributes = options.attributes ?? {};
  }

  override toRepr(): string {
    return this.typeName === 'type' ? `<class '${this.name}'>` : `<${this.typeName} ${this.name}>`;
  }

  override attribute(name: string): Value | undefined {
    return Object.hasOwn(this.#attributes, name) ? this.#attributes[name] : undefined;
  }

  override call(callArguments: CallArguments): Value {
    return this.#call(callArguments);
  }
}

/** The text of a str, escaped or not; undefined for anything else. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Markup ? value.text : undefined;
}

/** A group of `groupby`: a pair whose parts have names. */
export class GroupTuple extends PyTuple {
  attribute(name: string): Value | undefined {
    return {grouper: this.items[0], list: this.items[1]}[name];
  }

  constructor(grouper: Value, list: Value[]) {
    super([grouper, list]);
  }
}
