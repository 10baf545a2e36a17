/** What stands between the brackets of a call, as a function that makes the arguments. */
import type {CallSyntax, Expression} from './ast.ts';
import type {Evaluate, Frame} from './frame.ts';
import {PyIterator, Undefined} from './objects.ts';
import {typeError} from './python-error.ts';
import type {Runtime, Scope} from './runtime.ts';
import {isIterable, iterate} from './sequences.ts';
import {PlacedError} from './template-fault.ts';
import {type CallArguments, noKeywords, PyDict, typeName, type Value} from './values.ts';

export type CompileExpression = (expression: Expression, frame: Frame) => Evaluate;

/** Makes the arguments, behind the ones that come first anyway. */
export type MakeArguments = (runtime: Runtime, scope: Scope, first?: Value) => CallArguments;

export function compileArguments(
  call: CallSyntax,
  frame: Frame,
  compileExpression: CompileExpression,
  offset: number,
): MakeArguments {
  assertDistinctKeywords(call, offset);
  const positional = call.positional.map((argument) => compileExpression(argument, frame));
  const keyword = call.keyword.map(({name, value}) => [name, compileExpression(value, frame)] as const);
  const spread = call.positionalSpread && compileExpression(call.positionalSpread, frame);
  const keywordSpread = call.keywordSpread && compileExpression(call.keywordSpread, frame);
  return (runtime, scope, first) => {
    const values: Value[] = first === undefined ? [] : [first];
    for (const evaluate of positional) values.push(evaluate(runtime, scope));
    if (spread) values.push(...spreadValues(spread(runtime, scope)));
    if (keyword.length === 0 && !keywordSpread) return {positional: values, keyword: noKeywords};
    const named = new Map<string, Value>();
    for (const [name, evaluate] of keyword) named.set(name, evaluate(runtime, scope));
    if (keywordSpread) addSpread(named, keywordSpread(runtime, scope));
    return {positional: values, keyword: named};
  };
}

/** Python finds such a call when it compiles the template's code. */
function assertDistinctKeywords({keyword}: CallSyntax, offset: number): void {
  const names = new Set<string>();
  for (const {name} of keyword) {
    if (names.has(name)) throw new PlacedError('TemplateSyntaxError', `keyword argument repeated: ${name}`, offset);
    names.add(name);
  }
}

function spreadValues(value: Value): Iterable<Value> {
  if (isIterable(value) || value instanceof PyIterator) return iterate(value);
  throw typeError(`Value after * must be an iterable, not ${typeName(value)}`);
}

function addSpread(named: Map<string, Value>, value: Value): void {
  if (value instanceof Undefined) throw value.error();
  if (!(value instanceof PyDict))
    throw typeError(
      `jinja2.sandbox.SandboxedEnvironment.call() argument after ** must be a mapping, not ${typeName(value)}`,
    );
  for (const [key, entry] of value.entries()) {
    if (typeof key !== 'string') throw typeError('keywords must be strings');
    if (named.has(key)) throw typeError(`got multiple values for keyword argument '${key}'`);
    named.set(key, entry);
  }
}
