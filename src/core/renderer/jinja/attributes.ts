/**
 * How templates reach into values: `x.name` tries the attribute, then the key; `x['name']` the key, then the attribute.
 * The sandbox stands here: names with a leading underscore and methods that change a list or a dict are refused.
 */
import {braceFormat, type FieldValues} from './brace-format.ts';
import {escapeMarkup} from './markup.ts';
import {
  dictFromKeys,
  dictMethods,
  floatAttributes,
  floatMethods,
  integerAttributes,
  integerMethods,
  listMethods,
  tupleMethods,
} from './methods.ts';
import {GroupTuple, Markup, Namespace, PyFunction, textOf, Undefined} from './objects.ts';
import {type PythonError, typeError} from './python-error.ts';
import {itemAt, iterate} from './sequences.ts';
import {type Method, stringMethods} from './string-methods.ts';
import {repr} from './text.ts';
import {type CallArguments, isInteger, PyDict, PyFloat, PyObject, PyTuple, typeName, type Value} from './values.ts';

/** `value.name` as a template means it; undefined things give an `Undefined`. @throws PythonError of an undefined value */
export function getAttribute(value: Value, name: string): Value {
  if (value instanceof Undefined) return attributeOfUndefined(value, name);
  const attribute = safeAttribute(value, name);
  if (attribute !== undefined) return attribute;
  return orMissing(itemAt(value, name), value, name);
}

/** `value[key]` as a template means it. @throws PythonError of an undefined value */
export function getItem(value: Value, key: Value): Value {
  const item = itemAt(value, key);
  if (item !== undefined) return item;
  const name = textOf(key);
  return orMissing(name === undefined ? undefined : safeAttribute(value, name), value, key);
}

/** The attribute alone, without a look at keys: the filter `attr`. */
export function getOnlyAttribute(value: Value, name: string): Value {
  if (value instanceof Undefined) return attributeOfUndefined(value, name);
  return orMissing(safeAttribute(value, name), value, name);
}

/** None is a value; only undefined is none. */
function orMissing(found: Value | undefined, value: Value, key: Value): Value {
  return found === undefined ? missing(value, key) : found;
}

/** What has no such attribute or element. */
function missing(value: Value, key: Value): Undefined {
  return Undefined.lazily(() => {
    const kind = value === null ? 'None' : `${qualifiedTypeName(value)} object`;
    return textOf(key) === undefined
      ? `${kind} has no element ${repr(key)}`
      : `${repr(kind)} has no attribute ${repr(key)}`;
  });
}

/** Python names the module of types that are not its own. */
function qualifiedTypeName(value: Value): string {
  const name = typeName(value);
  const module = modules[name];
  return module === undefined ? name : `${module}.${name}`;
}

const modules: Readonly<Record<string, string>> = {
  Namespace: 'jinja2.utils',
  Cycler: 'jinja2.utils',
  Joiner: 'jinja2.utils',
  Macro: 'jinja2.runtime',
  LoopContext: 'jinja2.runtime',
  TemplateReference: 'jinja2.runtime',
  Undefined: 'jinja2.runtime',
  Markup: 'markupsafe',
};

function attributeOfUndefined(value: Undefined, name: string): Value {
  if (objectAttributes.has(name)) return unsafe(value, name);
  throw value.error();
}

/** Private attributes that every object has. */
const objectAttributes = new Set(
  ['class', 'delattr', 'dir', 'doc', 'eq', 'format', 'ge', 'getattribute', 'getstate', 'gt', 'hash', 'init', 'le']
    .concat([
      'init_subclass',
      'lt',
      'ne',
      'new',
      'reduce',
      'reduce_ex',
      'repr',
      'setattr',
      'sizeof',
      'str',
      'subclasshook',
    ])
    .map((name) => `__${name}__`),
);
/** Private attributes of some kinds. */
const privateAttributes: Readonly<Record<string, readonly string[]>> = {
  str: ['add', 'contains', 'getitem', 'getnewargs', 'iter', 'len', 'mod', 'mul', 'rmod', 'rmul'],
  list: [
    'add',
    'class_getitem',
    'contains',
    'delitem',
    'getitem',
    'iadd',
    'imul',
    'iter',
    'len',
    'mul',
    'reversed',
    'rmul',
    'setitem',
  ],
  tuple: ['add', 'class_getitem', 'contains', 'getitem', 'getnewargs', 'iter', 'len', 'mul', 'rmul'],
  dict: ['class_getitem', 'contains', 'delitem', 'getitem', 'ior', 'iter', 'len', 'or', 'reversed', 'ror', 'setitem'],
  function: [
    'annotations',
    'builtins',
    'call',
    'closure',
    'code',
    'defaults',
    'dict',
    'get',
    'globals',
    'kwdefaults',
    'module',
    'name',
    'qualname',
  ],
  type: ['base', 'bases', 'call', 'dict', 'module', 'mro', 'name', 'qualname', 'subclasses'],
};

const mutatingMethods: Readonly<Record<string, readonly string[]>> = {
  list: ['append', 'clear', 'pop', 'reverse', 'insert', 'sort', 'extend', 'remove'],
  dict: ['clear', 'pop', 'popitem', 'setdefault', 'update'],
};

function unsafe(value: Value, name: string): Undefined {
  return Undefined.unsafe(`access to attribute ${repr(name)} of ${repr(typeName(value))} object is unsafe.`);
}

/** An attribute, the `Undefined` of a refused one, or undefined when the object has none of that name. */
function safeAttribute(value: Value, name: string): Value | undefined {
  if (name.startsWith('_')) return hasPrivateAttribute(value, name) ? unsafe(value, name) : undefined;
  if (mutatingMethods[typeName(value)]?.includes(name)) return unsafe(value, name);
  return publicAttribute(value, name);
}

function hasPrivateAttribute(value: Value, name: string): boolean {
  if (value instanceof Namespace) return name === '__class__' || value.attributes.has(name);
  if (objectAttributes.has(name)) return true;
  const names = privateAttributes[typeName(value)] ?? [];
  return name.startsWith('__') && name.endsWith('__') && names.includes(name.slice(2, -2));
}

function publicAttribute(value: Value, name: string): Value | undefined {
  if (typeof value === 'string' || value instanceof Markup) return stringAttribute(value, name);
  if (value instanceof PyDict) return dictAttribute(value, name);
  if (Array.isArray(value)) return bound(value, name, listMethods);
  if (value instanceof GroupTuple && value.attribute(name) !== undefined) return value.attribute(name);
  if (value instanceof PyTuple) return bound(value, name, tupleMethods);
  if (value instanceof PyObject) return value.attribute(name);
  if (isInteger(value)) return own(integerAttributes, name)?.(value) ?? bound(value, name, integerMethods);
  if (value instanceof PyFloat) return own(floatAttributes, name)?.(value) ?? bound(value, name, floatMethods);
  return undefined;
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A method with its object. */
function bound<Receiver extends Value>(
  receiver: Receiver,
  name: string,
  methods: Readonly<Record<string, Method<Receiver>>>,
): Value | undefined {
  const method = own(methods, name);
  if (!method) return undefined;
  const kind = typeName(receiver);
  return boundMethod(name, (given) => method.call(receiver, bindMethod(kind, name, method, given)));
}

function boundMethod(name: string, call: (given: CallArguments) => Value): PyFunction {
  return new PyFunction(name, call, {typeName: 'builtin_function_or_method'});
}

function dictAttribute(dict: PyDict, name: string): Value | undefined {
  if (name !== 'fromkeys') return bound(dict, name, dictMethods);
  return boundMethod(name, ({positional: [keys = null, value = null]}) => dictFromKeys(iterate(keys), value));
}

function stringAttribute(source: string | Markup, name: string): Value | undefined {
  if (name === 'format' || name === 'format_map') return formatMethod(source, name);
  if (typeof source === 'string') return bound(source, name, stringMethods);
  const method = own(stringMethods, name);
  if (!method) return undefined;
  return boundMethod(name, (given) => {
    const values = bindMethod('str', name, method, given);
    return asMarkup(method.call(source.text, name in escapedParameters ? escapeArguments(name, values) : values));
  });
}

/** Which argument of a method becomes part of the result, and so is escaped. */
const escapedParameters: Readonly<Record<string, number>> = {join: 0, replace: 1, ljust: 1, rjust: 1, center: 1};

function escapeArguments(name: string, values: readonly (Value | undefined)[]): readonly (Value | undefined)[] {
  const position = escapedParameters[name];
  return values.map((value, index) => {
    if (index !== position || value === undefined) return value;
    return name === 'join' ? [...iterate(value)].map(escapeMarkup) : escapeMarkup(value);
  });
}

function asMarkup(value: Value): Value {
  if (typeof value === 'string') return new Markup(value);
  if (Array.isArray(value)) return value.map(asMarkup);
  return value instanceof PyTuple ? new PyTuple(value.items.map(asMarkup)) : value;
}

function formatMethod(source: string | Markup, name: string): PyFunction {
  return boundMethod(name, (given) => {
    const values = name === 'format' ? formatValues(given) : formatMapValues(given);
    return braceFormat(source, values, {attribute: getAttribute, item: getItem});
  });
}

function formatValues({positional, keyword}: CallArguments): FieldValues {
  return {positional, named: (name) => keyword.get(name)};
}

function formatMapValues({positional, keyword}: CallArguments): FieldValues {
  if (keyword.size > 0) throw typeError('format_map() takes no keyword arguments');
  if (positional.length !== 1) throw typeError(`format_map() takes exactly one argument (${positional.length} given)`);
  return {positional: [], named: (name) => itemAt(positional[0]!, name)};
}

/** Binds the arguments of a built-in method, with the texts of CPython's. */
function bindMethod(
  kind: string,
  name: string,
  method: Method<never>,
  {positional, keyword}: CallArguments,
): readonly (Value | undefined)[] {
  const given = positional.length + keyword.size;
  if (keyword.size > 0 && !method.keywords) throw typeError(`${kind}.${name}() takes no keyword arguments`);
  if (given > method.most || given < method.least) throw wrongCount(kind, name, method, given);
  const values: (Value | undefined)[] = [...positional];
  for (const [key, value] of keyword) {
    const index = method.keywords!.indexOf(key);
    if (index < 0) throw typeError(`'${key}' is an invalid keyword argument for ${name}()`);
    values[index] = value;
  }
  return values;
}

function wrongCount(kind: string, name: string, {least, most}: Method<never>, given: number): PythonError {
  if (most === 0) return typeError(`${kind}.${name}() takes no arguments (${given} given)`);
  if (least === 1 && most === 1) return typeError(`${kind}.${name}() takes exactly one argument (${given} given)`);
  const [side, bound] = given < least ? ['least', least] : ['most', most];
  return typeError(`${name} expected at ${side} ${bound} argument${bound === 1 ? '' : 's'}, got ${given}`);
}

/** `value(…)` @throws PythonError when it cannot be called */
export function callValue(value: Value, given: CallArguments): Value {
  if (value instanceof PyObject && value.call) return value.call(given);
  throw typeError(`'${typeName(value)}' object is not callable`);
}
