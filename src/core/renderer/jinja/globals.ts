/** Names that every template knows: jinja2's functions, and those that transformers adds. */
import {type BuiltinContext, builtin, type Parameter} from './builtin.ts';
import {Namespace, PyFunction, PyRange, textOf} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import {isIterable, iterate, toIndex, toList} from './sequences.ts';
import {strftime} from './strftime.ts';
import {str} from './text.ts';
import {type CallArguments, PyDict, PyObject, typeName, type Value} from './values.ts';

const maxRangeLength = 100_000;

function range({positional, keyword}: CallArguments): Value {
  const [unexpected] = keyword.keys();
  if (unexpected !== undefined) throw typeError(`safe_range() got an unexpected keyword argument '${unexpected}'`);
  if (positional.length === 0) throw typeError('range expected at least 1 argument, got 0');
  if (positional.length > 3) throw typeError(`range expected at most 3 arguments, got ${positional.length}`);
  const [first, second, step = 1] = positional.map(toIndex);
  if (step === 0) throw valueError('range() arg 3 must not be zero');
  const result = second === undefined ? new PyRange(0, first!, 1) : new PyRange(first!, second, step);
  if (result.length() <= maxRangeLength) return result;
  const text = `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${maxRangeLength}).`;
  throw new PythonError('OverflowError', text);
}

/** `dict(pairs or mapping, **more)` */
function makeDict({positional, keyword}: CallArguments): PyDict {
  if (positional.length > 1) throw typeError(`dict expected at most 1 argument, got ${positional.length}`);
  const [source = new PyDict()] = positional;
  const entries = source instanceof PyDict ? [...source.entries()] : [...iterate(source)].map(toPair);
  return PyDict.from([...entries, ...keyword]);
}

function toPair(element: Value, index: number): [Value, Value] {
  const place = `dictionary update sequence element #${index}`;
  if (!isIterable(element)) throw typeError(`cannot convert ${place} to a sequence`);
  const pair = toList(element);
  if (pair.length !== 2) throw valueError(`${place} has length ${pair.length}; 2 is required`);
  return [pair[0]!, pair[1]!];
}

/** Gives its values in turn. */
class Cycler extends PyObject {
  readonly typeName = 'Cycler';
  readonly #items: readonly Value[];
  #position = 0;

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw new PythonError('RuntimeError', 'at least one item has to be provided');
    this.#items = items;
  }

  override toRepr(): string {
    return '<jinja2.utils.Cycler object>';
  }

  override attribute(name: string): Value | undefined {
    if (name === 'current') return this.#items[this.#position];
    if (name === 'pos') return this.#position;
    if (name === 'next') return new PyFunction('next', () => this.#next());
    if (name === 'reset') return new PyFunction('reset', () => this.#reset());
    return name === 'items' ? [...this.#items] : undefined;
  }

  #next(): Value {
    const item = this.#items[this.#position]!;
    this.#position = (this.#position + 1) % this.#items.length;
    return item;
  }

  #reset(): Value {
    this.#position = 0;
    return null;
  }
}

/** Gives nothing the first time, and its separator after that. */
class Joiner extends PyObject {
  readonly typeName = 'Joiner';
  readonly #separator: Value;
  #used = false;

  constructor(separator: Value) {
    super();
    this.#separator = separator;
  }

  override toRepr(): string {
    return '<jinja2.utils.Joiner object>';
  }

  override attribute(name: string): Value | undefined {
    return {sep: this.#separator, used: this.#used}[name];
  }

  override call(): Value {
    if (this.#used) return this.#separator;
    this.#used = true;
    return '';
  }
}

function bound(
  context: BuiltinContext,
  name: string,
  parameters: readonly Parameter[],
  body: (...values: Value[]) => Value,
): PyFunction {
  const found = builtin(name, parameters, (_context, ...values) => body(...values));
  return new PyFunction(name, (given) => found.call(context, given));
}

function raiseException(message: Value): never {
  throw new PythonError('TemplateError', str(message));
}

function formatNow(context: BuiltinContext, format: Value): string {
  const text = textOf(format);
  if (text === undefined) throw typeError(`strftime() argument 1 must be str, not ${typeName(format)}`);
  return strftime(context.now(), text);
}

/** The globals of one render: joiners and cyclers belong to it. */
export function createGlobals(context: BuiltinContext): Map<string, Value> {
  const asType = {typeName: 'type'};
  return new Map<string, Value>([
    ['range', new PyFunction('safe_range', range)],
    ['dict', new PyFunction('dict', makeDict, {...asType, attributes: dictAttributes()})],
    ['namespace', new PyFunction('jinja2.utils.Namespace', (given) => new Namespace(makeDict(given)), asType)],
    ['cycler', new PyFunction('jinja2.utils.Cycler', ({positional}) => new Cycler(positional), asType)],
    ['joiner', new PyFunction('jinja2.utils.Joiner', joiner, asType)],
    ['lipsum', new PyFunction('generate_lorem_ipsum', refuseLipsum)],
    ['raise_exception', bound(context, 'raise_exception', ['message'], raiseException)],
    ['strftime_now', bound(context, 'strftime_now', ['format'], (format) => formatNow(context, format!))],
  ]);
}

function joiner({positional: [separator], keyword}: CallArguments): Joiner {
  return new Joiner(separator ?? keyword.get('sep') ?? ', ');
}

function refuseLipsum(): never {
  throw new PythonError('NotImplementedError', 'lipsum() makes random text, which chat templates have no use for.');
}

function dictAttributes(): Record<string, Value> {
  const fromKeys = ({positional: [keys = null, value = null]}: CallArguments): PyDict =>
    PyDict.from([...iterate(keys)].map((key): [Value, Value] => [key, value]));
  return {fromkeys: new PyFunction('fromkeys', fromKeys)};
}
