/** A macro as a value, and how its arguments find their parameters (jinja2's `runtime.Macro`). */
import {Undefined} from './objects.ts';
import {typeError} from './python-error.ts';
import {repr, stringRepr} from './text.ts';
import {type CallArguments, PyDict, PyObject, PyTuple, type Value} from './values.ts';

export interface MacroSignature {
  /** Empty for the body of a call block. */
  readonly name: string;
  readonly parameters: readonly string[];
  readonly usesCaller: boolean;
  readonly usesKeywords: boolean;
  readonly usesVarargs: boolean;
}

/** What a call hands to the body; undefined = a parameter without argument. */
export interface MacroArguments {
  readonly values: readonly (Value | undefined)[];
  readonly caller: Value | undefined;
  readonly keywords: PyDict | undefined;
  readonly varargs: PyTuple | undefined;
}

export class Macro extends PyObject {
  readonly typeName = 'Macro';
  readonly #signature: MacroSignature;
  readonly #invoke: (given: MacroArguments) => Value;

  constructor(signature: MacroSignature, invoke: (given: MacroArguments) => Value) {
    super();
    this.#signature = signature;
    this.#invoke = invoke;
  }

  override call(given: CallArguments): Value {
    return this.#invoke(bindMacroArguments(this.#signature, given));
  }

  override attribute(name: string): Value | undefined {
    return Object.hasOwn(attributes, name) ? attributes[name]!(this.#signature) : undefined;
  }

  toRepr(): string {
    const {name} = this.#signature;
    return `<Macro ${name === '' ? 'anonymous' : stringRepr(name)}>`;
  }
}

const attributes: Readonly<Record<string, (signature: MacroSignature) => Value>> = {
  name: ({name}) => (name === '' ? null : name),
  arguments: ({parameters}) => new PyTuple(parameters),
  caller: ({usesCaller}) => usesCaller,
  catch_kwargs: ({usesKeywords}) => usesKeywords,
  catch_varargs: ({usesVarargs}) => usesVarargs,
};

function bindMacroArguments(signature: MacroSignature, {positional, keyword}: CallArguments): MacroArguments {
  const {parameters, usesCaller, usesKeywords, usesVarargs} = signature;
  const rest = new Map(keyword);
  const values = parameters.map((name, index) => (index < positional.length ? positional[index] : take(rest, name)));
  const takesCaller = usesCaller && !parameters.includes('caller');
  const caller = takesCaller ? (take(rest, 'caller') ?? Undefined.ofHint('No caller defined')) : undefined;
  if (!usesKeywords && rest.size > 0) throw unexpectedKeyword(signature, rest);
  if (!usesVarargs && positional.length > parameters.length) {
    throw typeError(`macro ${shownName(signature)} takes not more than ${parameters.length} argument(s)`);
  }
  return {
    values,
    caller,
    keywords: usesKeywords ? PyDict.from(rest) : undefined,
    varargs: usesVarargs ? new PyTuple(positional.slice(parameters.length)) : undefined,
  };
}

function take(values: Map<string, Value>, name: string): Value | undefined {
  const value = values.get(name);
  values.delete(name);
  return value;
}

function unexpectedKeyword(signature: MacroSignature, rest: ReadonlyMap<string, Value>): Error {
  if (rest.has('caller')) {
    return typeError(
      `macro ${shownName(signature)} was invoked with two values for the special caller argument. ` +
        'This is most likely a bug.',
    );
  }
  const [name] = rest.keys();
  return typeError(`macro ${shownName(signature)} takes no keyword argument ${stringRepr(name!)}`);
}

function shownName({name}: MacroSignature): string {
  return repr(name === '' ? null : name);
}
