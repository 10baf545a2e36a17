/** Calls built-ins on plain values and shows what comes out as Python would: a `repr`, or the error with its kind. */
import {type BinaryOperator, binary} from '../../../../../src/core/renderer/jinja/arithmetic.ts';
import {callValue, getAttribute} from '../../../../../src/core/renderer/jinja/attributes.ts';
import type {Builtin, BuiltinContext} from '../../../../../src/core/renderer/jinja/builtin.ts';
import {filters} from '../../../../../src/core/renderer/jinja/filters/all-filters.ts';
import {fromJson} from '../../../../../src/core/renderer/jinja/from-json.ts';
import {PyIterator} from '../../../../../src/core/renderer/jinja/objects.ts';
import {PythonError} from '../../../../../src/core/renderer/jinja/python-error.ts';
import {toList} from '../../../../../src/core/renderer/jinja/sequences.ts';
import {tests} from '../../../../../src/core/renderer/jinja/tests.ts';
import {repr} from '../../../../../src/core/renderer/jinja/text.ts';
import {noKeywords, PyFloat, type Value} from '../../../../../src/core/renderer/jinja/values.ts';

export const context: BuiltinContext = {
  autoescape: false,
  filters,
  tests,
  now: () => new Date(2026, 0, 5, 13, 7, 9),
};

/** A float whose value is a whole number. */
export function float(value: number): PyFloat {
  return new PyFloat(value);
}

export function shown(run: () => Value): string {
  try {
    const value = run();
    return repr(value instanceof PyIterator ? toList(value) : value);
  } catch (error) {
    if (error instanceof PythonError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}

function call(table: ReadonlyMap<string, Builtin>, name: string, values: unknown[], keywords: object = {}): string {
  const keyword = new Map(Object.entries(keywords).map(([key, value]) => [key, fromJson(value)] as const));
  return shown(() => table.get(name)!.call(context, {positional: values.map(fromJson), keyword}));
}

export function filter(name: string, value: unknown, rest: unknown[] = [], keywords: object = {}): string {
  return call(filters, name, [value, ...rest], keywords);
}

export function passes(name: string, ...values: unknown[]): string {
  return call(tests, name, values);
}

export function method(receiver: unknown, name: string, ...values: unknown[]): string {
  const found = (): Value => getAttribute(fromJson(receiver), name);
  return shown(() => callValue(found(), {positional: values.map(fromJson), keyword: noKeywords}));
}

export function operate(left: unknown, operator: BinaryOperator, right: unknown): string {
  return shown(() => binary(operator, fromJson(left), fromJson(right)));
}
