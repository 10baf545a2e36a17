/** The tests of jinja2 (`x is defined`), as a table of name and function. */
import {binary} from './arithmetic.ts';
import {type Builtin, type BuiltinContext, builtin, type Parameter} from './builtin.ts';
import {compare, contains, equals, type OrderOperator} from './comparison.ts';
import {isLower, isUpper} from './letter-case.ts';
import {Markup, Namespace, PyIterator, textOf, Undefined} from './objects.ts';
import {isIterable, lengthOf} from './sequences.ts';
import {str} from './text.ts';
import {hashKey, isInteger, isNumeric, PyDict, PyFloat, PyObject, type Value} from './values.ts';

type Test = (context: BuiltinContext, value: Value, other: Value) => boolean;

/** Length and elements by key: what has both is a sequence for jinja2, a dict too, a view or an iterator not. */
function isSequence(value: Value): boolean {
  if (lengthOf(value) === undefined) return false;
  if (!(value instanceof PyObject) || value instanceof Markup || value instanceof Undefined) return true;
  return value.typeName === 'range';
}

/** @throws PythonError when the value cannot be a name at all */
function isKnown(table: ReadonlyMap<string, Builtin>, value: Value): boolean {
  hashKey(value);
  return table.has(textOf(value) ?? '');
}

function hasSameIdentity(left: Value, right: Value): boolean {
  return left === right;
}

function isCallable(value: Value): boolean {
  return value instanceof PyObject && value.call !== undefined && !(value instanceof Namespace);
}

const unaryTests: Readonly<Record<string, Test>> = {
  odd: (_context, value) => equals(binary('%', value, 2), 1),
  even: (_context, value) => equals(binary('%', value, 2), 0),
  defined: (_context, value) => !(value instanceof Undefined),
  undefined: (_context, value) => value instanceof Undefined,
  filter: (context, value) => isKnown(context.filters, value),
  test: (context, value) => isKnown(context.tests, value),
  none: (_context, value) => value === null,
  boolean: (_context, value) => typeof value === 'boolean',
  false: (_context, value) => value === false,
  true: (_context, value) => value === true,
  integer: (_context, value) => isInteger(value) && typeof value !== 'boolean',
  float: (_context, value) => value instanceof PyFloat,
  lower: (_context, value) => isLower(str(value)),
  upper: (_context, value) => isUpper(str(value)),
  string: (_context, value) => textOf(value) !== undefined,
  mapping: (_context, value) => value instanceof PyDict,
  number: (_context, value) => isNumeric(value),
  sequence: (_context, value) => isSequence(value),
  iterable: (_context, value) => isIterable(value) || value instanceof PyIterator,
  callable: (_context, value) => isCallable(value),
  escaped: (_context, value) => value instanceof Markup,
};

const ordered =
  (operator: OrderOperator): Test =>
  (_context, value, other) =>
    compare(operator, value, other);
const isEqual: Test = (_context, value, other) => equals(value, other);
const isDifferent: Test = (_context, value, other) => !equals(value, other);

const binaryTests: Readonly<Record<string, Test>> = {
  divisibleby: (_context, value, other) => equals(binary('%', value, other), 0),
  sameas: (_context, value, other) => hasSameIdentity(value, other),
  in: (_context, value, other) => contains(other, value),
  '==': isEqual,
  eq: isEqual,
  equalto: isEqual,
  '!=': isDifferent,
  ne: isDifferent,
  '>': ordered('>'),
  gt: ordered('>'),
  greaterthan: ordered('>'),
  '>=': ordered('>='),
  ge: ordered('>='),
  '<': ordered('<'),
  lt: ordered('<'),
  lessthan: ordered('<'),
  '<=': ordered('<='),
  le: ordered('<='),
};

/** Names of second parameters that differ from `other`. */
const secondParameters: Readonly<Record<string, string>> = {divisibleby: 'num', in: 'seq'};

function define(
  table: Readonly<Record<string, Test>>,
  parametersOf: (name: string) => Parameter[],
): [string, Builtin][] {
  return Object.entries(table).map(([name, test]) => [
    name,
    builtin(`test_${name}`, parametersOf(name), (context, value, other) => test(context, value!, other!)),
  ]);
}

export const tests: ReadonlyMap<string, Builtin> = new Map([
  ...define(unaryTests, () => ['value']),
  ...define(binaryTests, (name) => ['value', secondParameters[name] ?? 'other']),
]);
