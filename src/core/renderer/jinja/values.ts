/**
 * Python's values as templates see them, over JavaScript's. Primitives stand for themselves where JavaScript has the
 * kind: `null` is None, a boolean is a bool, a string is a str, an array is a list, and an integer is a number, or a
 * bigint beyond 2^53. Everything else is a class here: floats are boxed, so that `1.0` and `1` stay apart.
 *
 * A JavaScript number is therefore always a safe integer, a bigint never one, and `undefined` never a value.
 */
import {typeError} from './python-error.ts';

export type Value = null | boolean | number | bigint | string | Value[] | PyFloat | PyTuple | PyDict | PyObject;

/** What a call brings. */
export interface CallArguments {
  readonly positional: readonly Value[];
  readonly keyword: ReadonlyMap<string, Value>;
}

export const noKeywords: ReadonlyMap<string, Value> = new Map();

/** Arguments of a call without keywords. */
export function positionalArguments(...positional: Value[]): CallArguments {
  return {positional, keyword: noKeywords};
}

/** A float; integers are plain numbers. */
export class PyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** An immutable sequence. */
export class PyTuple {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** An ordered dict with any hashable key; keys that are equal in Python (`1`, `1.0`, `True`) are one. */
export class PyDict {
  readonly #values = new Map<HashKey, Value>();
  /** Keys that differ from what they hash to; a key keeps the form in which it came first. */
  readonly #originalKeys = new Map<HashKey, Value>();

  static from(entries: Iterable<readonly [Value, Value]>): PyDict {
    const dict = new PyDict();
    for (const [key, value] of entries) dict.set(key, value);
    return dict;
  }

  get size(): number {
    return this.#values.size;
  }

  /** @throws PythonError when the key is a list or a dict */
  get(key: Value): Value | undefined {
    return this.#values.get(hashKey(key));
  }

  has(key: Value): boolean {
    return this.#values.has(hashKey(key));
  }

  /** For whoever builds a dict; templates cannot change one. */
  set(key: Value, value: Value): void {
    const hash = hashKey(key);
    if (hash !== key && !this.#values.has(hash)) this.#originalKeys.set(hash, key);
    this.#values.set(hash, value);
  }

  *keys(): IterableIterator<Value> {
    for (const hash of this.#values.keys()) yield this.#keyOf(hash);
  }

  values(): IterableIterator<Value> {
    return this.#values.values();
  }

  *entries(): IterableIterator<[Value, Value]> {
    for (const [hash, value] of this.#values) yield [this.#keyOf(hash), value];
  }

  /** A hash without an original is the key itself: a str, a number, a bigint or None. */
  #keyOf(hash: HashKey): Value {
    if (this.#originalKeys.size === 0) return hash as Value;
    const original = this.#originalKeys.get(hash);
    return original === undefined ? (hash as Value) : original;
  }
}

/**
 * Any other object. A subclass overrides what its kind can do; what it leaves alone fails or is absent, as in Python.
 */
export abstract class PyObject {
  /** Name of the Python type, as in error texts. */
  abstract readonly typeName: string;

  /**
   * `repr(x)`; `str(x)` too, unless `toText` is overridden.
   * @param repr for the values inside
   */
  abstract toRepr(repr: (value: Value) => string): string;

  toText(repr: (value: Value) => string): string {
    return this.toRepr(repr);
  }

  isTrue(): boolean {
    return this.length === undefined ? true : this.length() > 0;
  }

  /** A public attribute, or undefined when there is none. Names that start with an underscore never come here. */
  attribute(_name: string): Value | undefined {
    return undefined;
  }

  /** `x[key]`; undefined = no such entry. */
  item?(key: Value): Value | undefined;

  /** A fresh pass over the elements; the same one each time when the object is an iterator. */
  iterate?(): Iterator<Value>;

  length?(): number;

  call?(callArguments: CallArguments): Value;

  /** Objects that are equal must give the same. */
  hashKey(): HashKey {
    return this;
  }

  /** `==` with something that is not the object itself. */
  equals(_other: Value): boolean {
    return false;
  }
}

/** True for int and bool (a bool is an int in Python). */
export function isInteger(value: Value): value is number | bigint | boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

/** True for int, bool and float. */
export function isNumeric(value: Value): value is number | bigint | boolean | PyFloat {
  return isInteger(value) || value instanceof PyFloat;
}

/** The smallest form of an integer: a number while it is safe. */
export function toInteger(value: bigint | number): number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : BigInt(value);
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** The elements of a list or a tuple; undefined for anything else. */
export function itemsOf(value: Value): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  return value instanceof PyTuple ? value.items : undefined;
}

const typeNames: Readonly<Record<string, string>> = {string: 'str', number: 'int', bigint: 'int', boolean: 'bool'};

/** Name of the Python type, as in error texts. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (value instanceof PyObject) return value.typeName;
  if (Array.isArray(value)) return 'list';
  if (value instanceof PyDict) return 'dict';
  if (value instanceof PyTuple) return 'tuple';
  return value instanceof PyFloat ? 'float' : typeNames[typeof value]!;
}

/**
 * What a key of a dict is in a JavaScript `Map`: values that are equal in Python give the same (`1`, `1.0` and `True`; two
 * tuples with equal elements; a str and its escaped form).
 */
export type HashKey = string | number | bigint | null | object;

/** Strings that begin with it are reserved for what is no string. */
const reserved = '\u0000';

/** @throws PythonError when the value is a list or a dict, or holds one */
export function hashKey(value: Value): HashKey {
  if (typeof value === 'string') return textKey(value);
  if (typeof value === 'number' || typeof value === 'bigint' || value === null) return value;
  if (typeof value === 'boolean') return Number(value);
  if (value instanceof PyFloat) return floatKey(value);
  if (value instanceof PyTuple) return `${reserved}(${value.items.map(elementKey).join('')})`;
  if (value instanceof PyObject) return value.hashKey();
  throw typeError(`unhashable type: '${value instanceof PyDict ? 'dict' : 'list'}'`);
}

function textKey(text: string): string {
  return text.startsWith(reserved) ? `${reserved}${text}` : text;
}

/** A float with an integer's value is that integer; NaN equals nothing but itself. */
function floatKey(float: PyFloat): HashKey {
  if (Number.isInteger(float.value)) return toInteger(float.value);
  return Number.isNaN(float.value) ? float : float.value;
}

/** Elements of a tuple carry their kind and length, so that no two lists of elements read the same. */
function elementKey(value: Value): string {
  const key = hashKey(value);
  if (key === null) return 'n;';
  if (typeof key === 'object') return `o${identityOf(key)};`;
  return typeof key === 'string' ? `s${key.length}:${key}` : `i${key};`;
}

const identities = new WeakMap<object, number>();
let nextIdentity = 0;

function identityOf(object: object): number {
  const known = identities.get(object);
  if (known !== undefined) return known;
  identities.set(object, nextIdentity);
  return nextIdentity++;
}
