/** Statements to functions that run them and write what they print. */
import type {FilterExpression, Statement} from './ast.ts';
import {compileAssignment, compileExport, compileTargetCheck} from './compile-assignment.ts';
import {compileCall, compileExpression, compileFilter} from './compile-expression.ts';
import {compileFor} from './compile-loop.ts';
import {compileMacro} from './compile-macro.ts';
import {printsNothing} from './constant-folding.ts';
import {type Execute, type Flow, type Frame, scopeAt} from './frame.ts';
import {Markup, Undefined} from './objects.ts';
import {PythonError, typeError} from './python-error.ts';
import type {Runtime, Scope} from './runtime.ts';
import {isTrue} from './sequences.ts';
import {addExpression, addParameterTarget, addStatements} from './symbols.ts';
import {PlacedError, syntaxError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {positionalArguments, typeName, type Value} from './values.ts';

type NodeOf<Type extends Statement['type']> = Extract<Statement, {type: Type}>;
type Compilers = {readonly [Type in Statement['type']]: (node: NodeOf<Type>, frame: Frame) => Execute};

/** All statements in their order; the first one that ends a turn of a loop ends them. */
export function compileBody(statements: readonly Statement[], frame: Frame): Execute {
  const executes = statements.map((statement) => compileStatement(statement, frame));
  return (runtime, scope) => {
    for (const execute of executes) {
      const flow = execute(runtime, scope);
      if (flow !== undefined) return flow;
    }
    return undefined;
  };
}

function compileStatement(node: Statement, frame: Frame): Execute {
  const compile = compilers[node.type] as (node: Statement, frame: Frame) => Execute;
  return compile(node, frame);
}

const compilers: Compilers = {
  text:
    ({text}) =>
    (runtime) =>
      void runtime.write(text),
  output: compileOutput,
  for: compileFor,
  if: compileIf,
  set: compileSet,
  'set-block': compileSetBlock,
  with: compileWith,
  macro(node, frame) {
    const make = compileMacro(node, frame);
    const target = {type: 'name-target', name: node.name, start: node.start, end: node.end} as const;
    return assigning(target, frame, make);
  },
  'call-block'({call, parameters, body, start}, frame) {
    const makeCaller = compileMacro({name: '', parameters, body, start}, frame);
    const evaluate = compileCall(call, frame);
    return (runtime, scope) => void runtime.writeValue(evaluate(runtime, scope, makeCaller(runtime, scope)));
  },
  'filter-block': compileFilterBlock,
  autoescape: compileAutoescape,
  generation({body, start}, frame) {
    const make = compileMacro({name: '', parameters: [], body, start}, frame);
    return (runtime, scope) => void runtime.writeGenerated(make(runtime, scope).call(positionalArguments()));
  },
  block: compileBlockUse,
  external: compileExternal,
  'loop-control'({kind, start}, frame) {
    const text = kind === 'break' ? "'break' outside loop" : "'continue' not properly in loop";
    if (!frame.isInLoop) throw syntaxError(text, start);
    return () => kind;
  },
};

function compileOutput({expressions}: NodeOf<'output'>, frame: Frame): Execute {
  const printed = expressions.filter((expression) => !printsNothing(expression));
  const evaluators = printed.map((expression) => compileExpression(expression, frame));
  return (runtime, scope) => {
    for (const evaluate of evaluators) runtime.writeValue(evaluate(runtime, scope));
    return undefined;
  };
}

function compileIf({branches, otherwise}: NodeOf<'if'>, outer: Frame): Execute {
  const frame = outer.soft();
  const compiled = branches.map(({test, body}) => ({
    test: compileExpression(test, frame),
    run: compileBody(body, frame),
  }));
  const runOtherwise = compileBody(otherwise, frame);
  return (runtime, scope) => {
    for (const {test, run} of compiled) if (isTrue(test(runtime, scope))) return run(runtime, scope);
    return runOtherwise(runtime, scope);
  };
}

function compileSet({target, value, start}: NodeOf<'set'>, frame: Frame): Execute {
  const check = compileTargetCheck(target, frame);
  const evaluate = compileExpression(value, frame);
  return assigning(target, frame, (runtime, scope) => {
    runtime.position = start;
    check(runtime, scope);
    return evaluate(runtime, scope);
  });
}

/** Sets what is computed, for blocks too. */
function assigning(
  target: NodeOf<'set'>['target'],
  frame: Frame,
  evaluate: (runtime: Runtime, scope: Scope) => Value,
): Execute {
  const assign = compileAssignment(target, frame);
  const exportNames = compileExport(target, frame);
  return (runtime, scope) => {
    const value = evaluate(runtime, scope);
    runtime.position = target.start;
    assign(runtime, scope, value);
    exportNames(runtime, scope);
    return undefined;
  };
}

/** A body whose text is wanted; `use` is left out when the body ends a turn of a loop. */
function capturing(
  run: Execute,
  use: (runtime: Runtime, scope: Scope, text: Value) => void,
): (runtime: Runtime, scope: Scope) => Flow {
  return (runtime, scope) => {
    const {text, result: flow} = runtime.capture(() => run(runtime, scope));
    if (flow === undefined) use(runtime, scope, runtime.asText(text));
    return flow;
  };
}

function compileSetBlock({target, filter, body}: NodeOf<'set-block'>, outer: Frame): Execute {
  const {run, evaluate} = compileFilteredBody(body, filter, outer);
  const assign = compileAssignment(target, outer);
  const exportNames = compileExport(target, outer);
  return capturing(run, (runtime, scope, text) => {
    assign(runtime, scope, evaluate(runtime, scope, text));
    exportNames(runtime, scope);
  });
}

function compileFilterBlock({filter, body}: NodeOf<'filter-block'>, outer: Frame): Execute {
  const {run, evaluate} = compileFilteredBody(body, filter, outer);
  return capturing(run, (runtime, scope, text) => {
    const filtered = evaluate(runtime, scope, text);
    runtime.position = filter.nameStart;
    runtime.writeValue(assertText(filtered));
  });
}

/** A block hands the value of its filters on as it is, and the pieces of a text must be texts. */
function assertText(value: Value): Value {
  if (typeof value === 'string' || value instanceof Markup) return value;
  throw typeError(`sequence item 0: expected str instance, ${typeName(value)} found`);
}

/** No template can have a variable of this name. */
const bodyText = 'text of the body';

/** A body in a frame of its own, and what filters make of its text. */
function compileFilteredBody(body: readonly Statement[], filter: FilterExpression | null, outer: Frame) {
  const frame = outer.inner();
  frame.symbols.declareParameter(bodyText);
  addStatements(frame.symbols, body);
  addExpression(frame.symbols, filter);
  const {index} = frame.variable(bodyText);
  const enter = frame.entry();
  const runBody = compileBody(body, frame);
  const applyFilters = filter ? compileFilter(filter, frame, (_runtime, {slots}) => slots[index]!) : null;
  const run: Execute = (runtime, scope) => {
    enter(runtime, scope);
    return runBody(runtime, scope);
  };
  const evaluate = (runtime: Runtime, scope: Scope, text: Value): Value => {
    scope.slots[index] = text;
    return applyFilters ? applyFilters(runtime, scope) : text;
  };
  return {run, evaluate};
}

function compileWith({bindings, body}: NodeOf<'with'>, outer: Frame): Execute {
  const frame = outer.inner();
  for (const {target} of bindings) addParameterTarget(frame.symbols, target);
  addStatements(frame.symbols, body);
  const enter = frame.entry();
  const compiled = bindings.map(({target, value}) => ({
    assign: compileAssignment(target, frame),
    evaluate: compileExpression(value, outer),
  }));
  const run = compileBody(body, frame);
  return (runtime, scope) => {
    enter(runtime, scope);
    for (const {assign, evaluate} of compiled) assign(runtime, scope, evaluate(runtime, scope));
    return run(runtime, scope);
  };
}

function compileAutoescape({value, body}: NodeOf<'autoescape'>, outer: Frame): Execute {
  const frame = outer.inner();
  addExpression(frame.symbols, value);
  addStatements(frame.symbols, body);
  const enter = frame.entry();
  const evaluate = compileExpression(value, frame);
  const run = compileBody(body, frame);
  return (runtime, scope) => {
    enter(runtime, scope);
    const before = runtime.autoescape;
    runtime.autoescape = isTrue(evaluate(runtime, scope));
    const flow = run(runtime, scope);
    runtime.autoescape = before;
    return flow;
  };
}

/** Runs a block where it stands; a scoped one sees the variables around it. */
function compileBlockUse({name, scoped, required}: NodeOf<'block'>, frame: Frame): Execute {
  if (required) {
    return () => {
      throw new PythonError('TemplateRuntimeError', `Required block ${stringRepr(name)} not found`);
    };
  }
  const names = scoped ? [...frame.symbols.storedNames()] : [];
  const variables = names.map((stored) => ({stored, ...frame.variable(stored)}));
  return (runtime, scope) => {
    const before = runtime.exported;
    if (scoped) runtime.exported = new Map(before);
    for (const {stored, hops, index} of variables) {
      const value = scopeAt(scope, hops).slots[index];
      if (value !== undefined) runtime.exported.set(stored, value);
    }
    runtime.nested(() => runtime.blocks.get(name)!(runtime));
    runtime.exported = before;
    return undefined;
  };
}

function compileExternal({kind, template, start}: NodeOf<'external'>, frame: Frame): Execute {
  if (kind === 'extends' && !frame.isTop) {
    throw new PlacedError('TemplateAssertionError', 'cannot use extend from a non top-level scope', start);
  }
  const evaluate = compileExpression(template, frame);
  return (runtime, scope) => {
    const value = evaluate(runtime, scope);
    runtime.position = start;
    if (value instanceof Undefined) throw value.error();
    throw typeError('no loader for this environment specified');
  };
}
