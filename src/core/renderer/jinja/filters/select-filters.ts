/** `map`, `select`, `reject` and their kin: a filter, a test or an attribute applied to each element, lazily. */
import {attributeGetter, type Getter} from '../attribute-path.ts';
import {type Builtin, type BuiltinContext, callBuiltin} from '../builtin.ts';
import {PyIterator, textOf} from '../objects.ts';
import {PythonError} from '../python-error.ts';
import {isTrue, iterate} from '../sequences.ts';
import {repr, str} from '../text.ts';
import type {CallArguments, Value} from '../values.ts';

function argumentError(message: string): PythonError {
  return new PythonError('FilterArgumentError', message);
}

/** A filter or test by name. @throws PythonError when there is none */
function find(table: ReadonlyMap<string, Builtin>, kind: 'filter' | 'test', name: Value): Builtin {
  const found = table.get(textOf(name) ?? '');
  if (!found) throw new PythonError('TemplateRuntimeError', `No ${kind} named ${repr(str(name))}.`);
  return found;
}

function mapping(context: BuiltinContext, {positional, keyword}: CallArguments): Getter {
  const [name, ...rest] = positional;
  if (name !== undefined) {
    const found = find(context.filters, 'filter', name);
    return (item) => callBuiltin(found, context, item, rest, keyword);
  }
  const attribute = keyword.get('attribute');
  if (attribute === undefined) throw argumentError('map requires a filter argument');
  const unexpected = [...keyword.keys()].find((key) => key !== 'attribute' && key !== 'default');
  if (unexpected !== undefined) throw argumentError(`Unexpected keyword argument ${repr(unexpected)}`);
  return attributeGetter(attribute, {standard: keyword.get('default') ?? null});
}

/** Nothing is prepared, and no mistake found, before the first element is asked for. */
function* map(context: BuiltinContext, value: Value, rest: CallArguments): Generator<Value> {
  if (!isTrue(value)) return;
  const convert = mapping(context, rest);
  for (const item of iterate(value)) yield convert(item);
}

interface Selection {
  readonly keeps: boolean;
  readonly byAttribute: boolean;
}

function selector(context: BuiltinContext, {positional, keyword}: CallArguments, byAttribute: boolean): Getter {
  if (byAttribute && positional.length === 0) throw argumentError('Missing parameter for attribute name');
  const getter: Getter = byAttribute ? attributeGetter(positional[0]!) : (item) => item;
  const [name, ...rest] = positional.slice(byAttribute ? 1 : 0);
  if (name === undefined) return getter;
  const test = find(context.tests, 'test', name);
  return (item) => callBuiltin(test, context, getter(item), rest, keyword);
}

function* select(
  context: BuiltinContext,
  value: Value,
  rest: CallArguments,
  {keeps, byAttribute}: Selection,
): Generator<Value> {
  if (!isTrue(value)) return;
  const passes = selector(context, rest, byAttribute);
  for (const item of iterate(value)) if (isTrue(passes(item)) === keeps) yield item;
}

function lazily(
  name: string,
  run: (context: BuiltinContext, value: Value, rest: CallArguments) => Generator<Value>,
): Builtin {
  return {
    name,
    call: (context, {positional: [value = null, ...positional], keyword}) =>
      new PyIterator(run(context, value, {positional, keyword})),
  };
}

function selection(name: string, options: Selection): Builtin {
  return lazily(name, (context, value, rest) => select(context, value, rest, options));
}

export const selectFilters: Readonly<Record<string, Builtin>> = {
  map: lazily('do_map', map),
  select: selection('do_select', {keeps: true, byAttribute: false}),
  reject: selection('do_reject', {keeps: false, byAttribute: false}),
  selectattr: selection('do_selectattr', {keeps: true, byAttribute: true}),
  rejectattr: selection('do_rejectattr', {keeps: false, byAttribute: true}),
};
