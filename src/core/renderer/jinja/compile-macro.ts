/** Macros and the bodies of call blocks: functions with parameters, defaults and a scope of their own. */
import type {MacroParameter, Statement} from './ast.ts';
import {compileExpression} from './compile-expression.ts';
import type {Evaluate, Frame} from './frame.ts';
import {Macro, type MacroArguments, type MacroSignature} from './macro.ts';
import {Undefined} from './objects.ts';
import {createScope, type Runtime, type Scope} from './runtime.ts';
import {addParameters, addStatements, undeclaredNames} from './symbols.ts';
import {PlacedError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import type {Value} from './values.ts';

export interface MacroSource {
  /** Empty for the body of a call block. */
  readonly name: string;
  readonly parameters: readonly MacroParameter[];
  readonly body: readonly Statement[];
  readonly start: number;
}

/** Makes the macro as a value when its tag is reached. */
export function compileMacro(source: MacroSource, outer: Frame): (runtime: Runtime, scope: Scope) => Macro {
  const frame = outer.callable();
  addParameters(frame.symbols, source.parameters);
  addStatements(frame.symbols, source.body);
  const signature = signatureOf(source);
  const special = specialSlots(signature, frame);
  const enter = frame.entry();
  const fillDefaults = compileDefaults(source.parameters, frame);
  const run = frame.unit.compileBody(source.body, frame);
  const slotsOfParameters = source.parameters.map(({name}) => frame.variable(name).index);
  return (runtime, parent) =>
    new Macro(signature, (given) => {
      const scope = createScope(frame.layout.size, parent);
      slotsOfParameters.forEach((slot, index) => {
        scope.slots[slot] = given.values[index];
      });
      for (const {slot, key} of special) scope.slots[slot] = given[key];
      return runtime.call(() => {
        enter(runtime, scope);
        fillDefaults(runtime, scope);
        run(runtime, scope);
      });
    });
}

function signatureOf({name, parameters, body, start}: MacroSource): MacroSignature {
  const used = undeclaredNames(body, ['caller', 'kwargs', 'varargs']);
  const names = parameters.map((parameter) => parameter.name);
  const explicitCaller = parameters.find((parameter) => parameter.name === 'caller');
  if (used.has('caller') && explicitCaller?.defaultValue === null) {
    throw new PlacedError(
      'TemplateAssertionError',
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
      start,
    );
  }
  return {
    name,
    parameters: names,
    usesCaller: used.has('caller'),
    usesKeywords: used.has('kwargs') && !names.includes('kwargs'),
    usesVarargs: used.has('varargs') && !names.includes('varargs'),
  };
}

type SpecialKey = Exclude<keyof MacroArguments, 'values'>;

/** Where the special names go that the body reads. */
function specialSlots(signature: MacroSignature, frame: Frame): {slot: number; key: SpecialKey}[] {
  const {usesCaller, usesKeywords, usesVarargs, parameters} = signature;
  const special: [isUsed: boolean, name: string, key: SpecialKey][] = [
    [usesCaller && !parameters.includes('caller'), 'caller', 'caller'],
    [usesKeywords, 'kwargs', 'keywords'],
    [usesVarargs, 'varargs', 'varargs'],
  ];
  return special
    .filter(([isUsed]) => isUsed)
    .map(([, name, key]) => {
      frame.symbols.declareParameter(name);
      return {slot: frame.variable(name).index, key};
    });
}

/** Parameters without argument, from left to right; a default sees the parameters before it. */
function compileDefaults(parameters: readonly MacroParameter[], frame: Frame): (...at: Parameters<Evaluate>) => void {
  const defaults = parameters.map(({name, defaultValue}) => ({
    slot: frame.variable(name).index,
    evaluate: defaultValue ? compileExpression(defaultValue, frame) : notProvided(name),
  }));
  return (runtime, scope) => {
    for (const {slot, evaluate} of defaults) {
      if (scope.slots[slot] === undefined) scope.slots[slot] = evaluate(runtime, scope);
    }
  };
}

function notProvided(name: string): () => Value {
  const missing = Undefined.ofHint(`parameter ${stringRepr(name)} was not provided`);
  return () => missing;
}
