/** `for` in all its forms: with a condition, with `else`, recursive, with or without the variable `loop`. */
import type {ForStatement} from './ast.ts';
import {type Assign, compileAssignment} from './compile-assignment.ts';
import {compileExpression} from './compile-expression.ts';
import type {Action, Evaluate, Execute, Flow, Frame} from './frame.ts';
import {LoopContext, type Recurse} from './loop-context.ts';
import {createScope, type Runtime, type Scope} from './runtime.ts';
import {isTrue, iterate} from './sequences.ts';
import {addExpression, addParameterTarget, addStatements, undeclaredNames} from './symbols.ts';
import {PlacedError} from './template-fault.ts';
import type {Value} from './values.ts';
import {targetNames, walkAll} from './walk.ts';

/** Runs a loop over a value. */
type RunLoop = (runtime: Runtime, scope: Scope, iterable: Value, recurse: Recurse | null, depth0: number) => Flow;

export function compileFor(node: ForStatement, frame: Frame): Execute {
  assertLoopIsNotSet(node);
  const evaluate = compileExpression(node.iterable, frame);
  const position = node.iterable.start;
  if (node.recursive) return compileRecursive(node, frame, evaluate);
  const run = compileLoop(node, frame);
  return (runtime, scope) => {
    const iterable = evaluate(runtime, scope);
    runtime.position = position;
    return run(runtime, scope, iterable, null, 0);
  };
}

/** The loop is a function of its own; `loop(children)` calls it again and gives its text. */
function compileRecursive(node: ForStatement, outer: Frame, evaluate: Evaluate): Execute {
  const frame = outer.callable();
  const run = compileLoop(node, frame);
  const start = (runtime: Runtime, parent: Scope, iterable: Value, depth0: number): void => {
    const recurse: Recurse = (children, depth) => runtime.call(() => start(runtime, parent, children, depth));
    run(runtime, createScope(frame.layout.size, parent), iterable, recurse, depth0);
  };
  return (runtime, scope) => {
    const iterable = evaluate(runtime, scope);
    runtime.position = node.iterable.start;
    start(runtime, scope, iterable, 0);
  };
}

function compileLoop(node: ForStatement, outer: Frame): RunLoop {
  const frame = outer.inner({isInLoop: true});
  const hasLoopVariable = needsLoopVariable(node);
  if (hasLoopVariable) frame.symbols.declareParameter('loop');
  addParameterTarget(frame.symbols, node.target);
  addStatements(frame.symbols, node.body);
  const test = compileLoopTest(node, outer);
  const turn = compileTurn(node, frame);
  const runElse = compileElse(node, outer);
  const loopSlot = hasLoopVariable ? frame.variable('loop').index : undefined;
  return (runtime, scope, iterable, recurse, depth0) => {
    const all = iterate(iterable);
    const elements = (test ? test(runtime, scope, all) : all)[Symbol.iterator]();
    let completed: boolean;
    if (loopSlot === undefined) completed = runTurns(runtime, scope, elements, turn);
    else {
      const loop = new LoopContext(elements, {iterable, isFiltered: test !== null, recurse, depth0});
      completed = runLoopTurns(runtime, scope, loop, loopSlot, turn);
    }
    return completed ? undefined : runElse(runtime, scope);
  };
}

/** One turn with its element. */
type Turn = (runtime: Runtime, scope: Scope, element: Value) => Flow;

/** @returns whether the body ran to its end at least once: else, the loop's `else` runs */
function runTurns(runtime: Runtime, scope: Scope, elements: Iterator<Value>, turn: Turn): boolean {
  let completed = false;
  for (let next = elements.next(); !next.done; next = elements.next()) {
    const flow = turn(runtime, scope, next.value);
    if (flow === undefined) completed = true;
    else if (flow === 'break') break;
  }
  return completed;
}

function runLoopTurns(runtime: Runtime, scope: Scope, loop: LoopContext, slot: number, turn: Turn): boolean {
  let completed = false;
  for (let element = loop.advance(); element !== undefined; element = loop.advance()) {
    scope.slots[slot] = loop;
    const flow = turn(runtime, scope, element);
    if (flow === undefined) completed = true;
    else if (flow === 'break') break;
  }
  return completed;
}

function compileTurn({target, body}: ForStatement, frame: Frame): Turn {
  const assign = compileAssignment(target, frame);
  const enter = frame.entry();
  const run = frame.unit.compileBody(body, frame);
  return (runtime, scope, element) => {
    runtime.meter.step();
    assign(runtime, scope, element);
    enter(runtime, scope);
    return run(runtime, scope);
  };
}

function compileElse({otherwise}: ForStatement, outer: Frame): Execute {
  if (otherwise.length === 0) return () => undefined;
  const frame = outer.inner();
  addStatements(frame.symbols, otherwise);
  const enter = frame.entry();
  const run = frame.unit.compileBody(otherwise, frame);
  return (runtime, scope) => {
    enter(runtime, scope);
    return run(runtime, scope);
  };
}

/** The elements that the loop's condition lets through, one by one. */
function compileLoopTest(
  {target, test}: ForStatement,
  outer: Frame,
): ((runtime: Runtime, scope: Scope, elements: Iterable<Value>) => Iterable<Value>) | null {
  if (test === null) return null;
  const frame = outer.inner();
  addParameterTarget(frame.symbols, target);
  addExpression(frame.symbols, test);
  const [assign, enter, evaluate]: [Assign, Action, Evaluate] = [
    compileAssignment(target, frame),
    frame.entry(),
    compileExpression(test, frame),
  ];
  return function* filtered(runtime, scope, elements) {
    enter(runtime, scope);
    for (const element of elements) {
      runtime.meter.step();
      assign(runtime, scope, element);
      if (isTrue(evaluate(runtime, scope))) yield element;
    }
  };
}

function needsLoopVariable(node: ForStatement): boolean {
  if (node.recursive || undeclaredNames(node.body, ['loop']).has('loop')) return true;
  return [...walkAll([node])].some((inner) => inner.type === 'block' && inner.scoped);
}

function assertLoopIsNotSet(node: ForStatement): void {
  for (const inner of walkAll([node])) {
    const sets = inner.type === 'for' || inner.type === 'set' || inner.type === 'set-block';
    if (!sets || !targetNames(inner.target).includes('loop')) continue;
    throw new PlacedError(
      'TemplateAssertionError',
      "Can't assign to special loop variable in for-loop target",
      inner.target.start,
    );
  }
}
