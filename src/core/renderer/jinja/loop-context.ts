/**
 * The variable `loop`: where a loop stands, and what comes before and after. Elements are taken one by one, except when
 * the template asks how many there are.
 */
import {equals} from './comparison.ts';
import {PyFunction, Undefined} from './objects.ts';
import {typeError} from './python-error.ts';
import {lengthOf} from './sequences.ts';
import {type CallArguments, PyObject, PyTuple, type Value} from './values.ts';

/** Runs the loop again, for the children of an element; gives its text. */
export type Recurse = (iterable: Value, depth: number) => Value;

export class LoopContext extends PyObject {
  readonly typeName = 'LoopContext';
  #elements: Iterator<Value>;
  readonly #iterable: Value;
  readonly #isFiltered: boolean;
  readonly #recurse: Recurse | null;
  readonly #depth0: number;
  #index0 = -1;
  #length: number | undefined;
  #previous: Value | undefined;
  #current: Value | undefined;
  /** Taken already, but not yet its turn. */
  #after: Value | undefined;
  #lastChanged: Value | undefined;

  constructor(
    elements: Iterator<Value>,
    options: {iterable: Value; isFiltered: boolean; recurse: Recurse | null; depth0: number},
  ) {
    super();
    this.#elements = elements;
    this.#iterable = options.iterable;
    this.#isFiltered = options.isFiltered;
    this.#recurse = options.recurse;
    this.#depth0 = options.depth0;
  }

  /** The next element, or undefined at the end. */
  advance(): Value | undefined {
    const next = this.#peek();
    this.#after = undefined;
    if (next === undefined) return undefined;
    this.#index0++;
    this.#previous = this.#current;
    this.#current = next;
    return next;
  }

  override attribute(name: string): Value | undefined {
    return Object.hasOwn(attributes, name) ? attributes[name]!(this) : undefined;
  }

  override length(): number {
    this.#length ??= (this.#isFiltered ? undefined : lengthOf(this.#iterable)) ?? this.#countAll();
    return this.#length;
  }

  override call({positional: [iterable]}: CallArguments): Value {
    if (!this.#recurse) throw typeError("The loop must have the 'recursive' marker to be enabled.");
    if (iterable === undefined) {
      throw typeError("LoopContext.__call__() missing 1 required positional argument: 'iterable'");
    }
    return this.#recurse(iterable, this.#depth0 + 1);
  }

  toRepr(): string {
    return `<LoopContext ${this.index}/${this.length()}>`;
  }

  get index0(): number {
    return this.#index0;
  }

  get index(): number {
    return this.#index0 + 1;
  }

  get depth0(): number {
    return this.#depth0;
  }

  get isLast(): boolean {
    return this.#peek() === undefined;
  }

  get previous(): Value {
    return this.#index0 === 0 ? Undefined.ofHint('there is no previous item') : this.#previous!;
  }

  get next(): Value {
    const next = this.#peek();
    return next === undefined ? Undefined.ofHint('there is no next item') : next;
  }

  /** True when the values differ from those of the last call. */
  changed(values: readonly Value[]): boolean {
    const given = new PyTuple(values);
    if (this.#lastChanged !== undefined && equals(this.#lastChanged, given)) return false;
    this.#lastChanged = given;
    return true;
  }

  cycle(values: readonly Value[]): Value {
    if (values.length === 0) throw typeError('no items for cycling given');
    return values[this.#index0 % values.length]!;
  }

  #peek(): Value | undefined {
    if (this.#after === undefined) {
      const {done, value} = this.#elements.next();
      if (!done) this.#after = value;
    }
    return this.#after;
  }

  /** Takes all that is left. */
  #countAll(): number {
    const rest: Value[] = [];
    for (let {done, value} = this.#elements.next(); !done; {done, value} = this.#elements.next()) rest.push(value);
    this.#elements = rest[Symbol.iterator]();
    return rest.length + this.index + Number(this.#after !== undefined);
  }
}

const attributes: Readonly<Record<string, (loop: LoopContext) => Value>> = {
  index: (loop) => loop.index,
  index0: (loop) => loop.index0,
  revindex: (loop) => loop.length() - loop.index0,
  revindex0: (loop) => loop.length() - loop.index,
  first: (loop) => loop.index0 === 0,
  last: (loop) => loop.isLast,
  length: (loop) => loop.length(),
  depth: (loop) => loop.depth0 + 1,
  depth0: (loop) => loop.depth0,
  previtem: (loop) => loop.previous,
  nextitem: (loop) => loop.next,
  changed: (loop) => new PyFunction('changed', ({positional}) => loop.changed(positional), {typeName: 'method'}),
  cycle: (loop) => new PyFunction('cycle', ({positional}) => loop.cycle(positional), {typeName: 'method'}),
};
