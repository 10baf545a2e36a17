/**
 * How filters, tests, globals and methods are called: a function of values with a Python signature. Arguments are bound
 * once, here, with Python's error texts; the functions themselves get one value per parameter.
 */

import {typeError} from './python-error.ts';
import {repr} from './text.ts';
import {type CallArguments, noKeywords, type Value} from './values.ts';

/** What a built-in may ask of the render that it runs in. */
export interface BuiltinContext {
  /** True inside `{% autoescape true %}`. */
  readonly autoescape: boolean;
  readonly filters: ReadonlyMap<string, Builtin>;
  readonly tests: ReadonlyMap<string, Builtin>;
  /** The clock of `strftime_now`. */
  readonly now: () => Date;
}

export interface Builtin {
  /** Name in error texts. */
  readonly name: string;
  readonly call: (context: BuiltinContext, callArguments: CallArguments) => Value;
}

/** A parameter that must be given, or one with its default. */
export type Parameter = string | readonly [name: string, defaultValue: Value];

export type BuiltinBody = (context: BuiltinContext, ...values: Value[]) => Value;

export interface SignatureOptions {
  /** Parameters before the first one that the caller does not see but Python counts, as in `pass_context` functions. */
  readonly hidden?: number;
  /** How many parameters take no keyword; all do when it is left out. */
  readonly positionalOnly?: number;
}

/** A built-in whose arguments are bound to its parameters. */
export function builtin(
  name: string,
  parameters: readonly Parameter[],
  body: BuiltinBody,
  options: SignatureOptions = {},
): Builtin {
  const bind = signature(name, parameters, options);
  return {name, call: (context, callArguments) => body(context, ...bind(callArguments))};
}

/** Calls a filter or test by name. */
export function callBuiltin(
  found: Builtin,
  context: BuiltinContext,
  value: Value,
  positional: readonly Value[] = [],
  keyword: ReadonlyMap<string, Value> = noKeywords,
): Value {
  return found.call(context, {positional: [value, ...positional], keyword});
}

/** Binds arguments to parameters. */
export function signature(
  name: string,
  parameters: readonly Parameter[],
  {hidden = 0, positionalOnly = 0}: SignatureOptions = {},
): (callArguments: CallArguments) => Value[] {
  const names = parameters.map((parameter) => (typeof parameter === 'string' ? parameter : parameter[0]));
  const required = parameters.filter((parameter) => typeof parameter === 'string').length;
  const defaults = parameters.map((parameter) => (typeof parameter === 'string' ? undefined : parameter[1]));
  return ({positional, keyword}) => {
    if (positional.length > names.length)
      throw tooMany(name, required + hidden, names.length + hidden, positional.length + hidden);
    const values: (Value | undefined)[] = names.map((_, index) => positional[index]);
    for (const [key, value] of keyword) values[keywordIndex(name, names, key, values, positionalOnly)] = value;
    const missing = names.filter((_, index) => index < required && values[index] === undefined);
    if (missing.length > 0) throw tooFew(name, missing);
    return values.map((value, index) => (value === undefined ? defaults[index]! : value));
  };
}

function keywordIndex(
  name: string,
  names: readonly string[],
  key: string,
  values: readonly (Value | undefined)[],
  positionalOnly: number,
): number {
  const index = names.indexOf(key);
  if (index < positionalOnly) throw typeError(`${name}() got an unexpected keyword argument '${key}'`);
  if (values[index] !== undefined) throw typeError(`${name}() got multiple values for argument '${key}'`);
  return index;
}

function tooMany(name: string, least: number, most: number, given: number): Error {
  const range = least === most ? `${most}` : `from ${least} to ${most}`;
  const takes = `${range} positional argument${most === 1 ? '' : 's'}`;
  return typeError(`${name}() takes ${takes} but ${given} ${given === 1 ? 'was' : 'were'} given`);
}

function tooFew(name: string, missing: readonly string[]): Error {
  const shown = missing.map((parameter) => repr(parameter));
  const last = shown.pop()!;
  const list = shown.length > 1 ? `${shown.join(', ')}, and ${last}` : [...shown, last].join(' and ');
  const plural = missing.length === 1 ? '' : 's';
  return typeError(`${name}() missing ${missing.length} required positional argument${plural}: ${list}`);
}
