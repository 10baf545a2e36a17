/**
 * Expressions to functions that compute them. Each kind of node has one entry in the table; the functions note where
 * they stand before they do what may fail, so that an error can be shown at its place.
 */
import {binary, negate, plus} from './arithmetic.ts';
import type {CompareOperator, Expression, FilterExpression, TestExpression} from './ast.ts';
import {callValue, getAttribute, getItem} from './attributes.ts';
import type {Builtin} from './builtin.ts';
import {compare, contains, equals} from './comparison.ts';
import {compileArguments} from './compile-arguments.ts';
import {type Evaluate, type Frame, scopeAt} from './frame.ts';
import {escapeMarkup, softText} from './markup.ts';
import {Markup, Undefined} from './objects.ts';
import {PythonError} from './python-error.ts';
import {isTrue, slice} from './sequences.ts';
import {locate} from './source-location.ts';
import {PlacedError, syntaxError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {PyDict, PyTuple, type Value} from './values.ts';

type NodeOf<Type extends Expression['type']> = Extract<Expression, {type: Type}>;
type Compilers = {readonly [Type in Expression['type']]: (node: NodeOf<Type>, frame: Frame) => Evaluate};

export function compileExpression(node: Expression, frame: Frame): Evaluate {
  const compile = compilers[node.type] as (node: Expression, frame: Frame) => Evaluate;
  return compile(node, frame);
}

const compilers: Compilers = {
  name: ({name}, frame) => compileName(name, frame),
  constant:
    ({value}) =>
    () =>
      value,
  list({items}, frame) {
    const evaluateItems = compileItems(items, frame);
    return (runtime, scope) => runtime.meter.made(evaluateItems(runtime, scope));
  },
  tuple({items}, frame) {
    const evaluateItems = compileItems(items, frame);
    return (runtime, scope) => runtime.meter.made(new PyTuple(evaluateItems(runtime, scope)));
  },
  dict: compileDict,
  attribute({object, name, start}, frame) {
    const evaluate = compileExpression(object, frame);
    return (runtime, scope) => {
      const value = evaluate(runtime, scope);
      runtime.position = start;
      if (typeof value === 'string') runtime.meter.read(value);
      return getAttribute(value, name);
    };
  },
  item: compileItem,
  slice: ({start}) => {
    throw syntaxError('invalid syntax', start);
  },
  call(node, frame) {
    const evaluate = compileCall(node, frame);
    return (runtime, scope) => evaluate(runtime, scope, undefined);
  },
  filter: (node, frame) => compileFilter(node, frame),
  test: compileTest,
  unary: compileUnary,
  binary: compileBinary,
  concat: compileConcat,
  compare: compileCompare,
  logical({operator, left, right}, frame) {
    const evaluateLeft = compileExpression(left, frame);
    const evaluateRight = compileExpression(right, frame);
    const decides = operator === 'or';
    return (runtime, scope) => {
      const value = evaluateLeft(runtime, scope);
      return isTrue(value) === decides ? value : evaluateRight(runtime, scope);
    };
  },
  conditional: compileConditional,
};

/** The value of a variable; a name that nothing set gives an `Undefined` that knows it. */
function compileName(name: string, frame: Frame): Evaluate {
  const {hops, index} = frame.variable(name);
  const missing = Undefined.ofName(name);
  if (hops === 0) return (_runtime, {slots}) => (slots[index] === undefined ? missing : slots[index]);
  return (_runtime, scope) => {
    const value = scopeAt(scope, hops).slots[index];
    return value === undefined ? missing : value;
  };
}

function compileItems(items: readonly Expression[], frame: Frame): (...at: Parameters<Evaluate>) => Value[] {
  const evaluators = items.map((item) => compileExpression(item, frame));
  return (runtime, scope) => evaluators.map((evaluate) => evaluate(runtime, scope));
}

function compileDict({entries, start}: NodeOf<'dict'>, frame: Frame): Evaluate {
  const evaluators = entries.map(({key, value}) => [compileExpression(key, frame), compileExpression(value, frame)]);
  return (runtime, scope) => {
    const dict = new PyDict();
    for (const [key, value] of evaluators) {
      const evaluatedKey = key!(runtime, scope);
      const evaluatedValue = value!(runtime, scope);
      runtime.position = start;
      dict.set(evaluatedKey, evaluatedValue);
    }
    return runtime.meter.made(dict);
  };
}

function compileItem({object, key, start}: NodeOf<'item'>, frame: Frame): Evaluate {
  const evaluateObject = compileExpression(object, frame);
  if (key.type === 'slice') return compileSlice(evaluateObject, key, start, frame);
  const evaluateKey = compileExpression(key, frame);
  return (runtime, scope) => {
    const value = evaluateObject(runtime, scope);
    const evaluatedKey = evaluateKey(runtime, scope);
    runtime.position = start;
    if (typeof value === 'string') runtime.meter.read(value);
    return getItem(value, evaluatedKey);
  };
}

function compileSlice(
  evaluateObject: Evaluate,
  {from, to, step}: NodeOf<'slice'>,
  start: number,
  frame: Frame,
): Evaluate {
  const [evaluateFrom, evaluateTo, evaluateStep] = [from, to, step].map((bound) => compileOptional(bound, frame));
  return (runtime, scope) => {
    const value = evaluateObject(runtime, scope);
    const first = evaluateFrom!(runtime, scope);
    const last = evaluateTo!(runtime, scope);
    const stride = evaluateStep!(runtime, scope);
    runtime.position = start;
    runtime.meter.read(value);
    return runtime.meter.made(slice(value, first, last, stride));
  };
}

function compileOptional(node: Expression | null, frame: Frame): Evaluate {
  return node === null ? () => null : compileExpression(node, frame);
}

export type EvaluateCall = (...at: [...Parameters<Evaluate>, caller: Value | undefined]) => Value;

/** A call; `caller` is what a call block hands on. */
export function compileCall({callee, call, start}: NodeOf<'call'>, frame: Frame): EvaluateCall {
  const evaluateCallee = compileExpression(callee, frame);
  const makeArguments = compileArguments(call, frame, compileExpression, start);
  return (runtime, scope, caller) => {
    const target = evaluateCallee(runtime, scope);
    const made = makeArguments(runtime, scope);
    const given = caller === undefined ? made : {...made, keyword: new Map([...made.keyword, ['caller', caller]])};
    runtime.position = start;
    runtime.meter.step();
    for (const argument of given.positional) runtime.meter.read(argument);
    return runtime.meter.made(callValue(target, given));
  };
}

/** @param operand in place of the node's own: the text of a block */
export function compileFilter(node: FilterExpression, frame: Frame, operand?: Evaluate): Evaluate {
  const evaluateOperand = node.operand ? compileOperand(node.operand, frame, operand) : operand!;
  return compileBuiltin('filter', frame.unit.environment.filters, node, evaluateOperand, frame);
}

/** Filters of a block stand one in another; the innermost one gets the text. */
function compileOperand(node: Expression, frame: Frame, operand: Evaluate | undefined): Evaluate {
  return operand && node.type === 'filter' ? compileFilter(node, frame, operand) : compileExpression(node, frame);
}

function compileTest(node: TestExpression, frame: Frame): Evaluate {
  return compileBuiltin('test', frame.unit.environment.tests, node, compileExpression(node.operand, frame), frame);
}

function compileBuiltin(
  kind: 'filter' | 'test',
  known: ReadonlyMap<string, Builtin>,
  {name, call, nameStart}: FilterExpression | TestExpression,
  evaluateOperand: Evaluate,
  frame: Frame,
): Evaluate {
  const found = known.get(name) ?? unknownBuiltin(kind, name, nameStart, frame);
  const makeArguments = compileArguments(call, frame, compileExpression, nameStart);
  return (runtime, scope) => {
    const given = makeArguments(runtime, scope, evaluateOperand(runtime, scope));
    runtime.position = nameStart;
    runtime.meter.step();
    for (const argument of given.positional) runtime.meter.read(argument);
    return runtime.meter.made(found.call(runtime, given));
  };
}

/** Inside a condition it fails only when it is reached. */
function unknownBuiltin(kind: string, name: string, offset: number, frame: Frame): Builtin {
  const text = `No ${kind} named ${stringRepr(name)}`;
  if (!frame.isSoft) throw new PlacedError('TemplateAssertionError', `${text}.`, offset);
  return {
    name,
    call: () => {
      throw new PythonError('TemplateRuntimeError', `${text} found.`);
    },
  };
}

const unaryOperators: Readonly<Record<NodeOf<'unary'>['operator'], (value: Value) => Value>> = {
  not: (value) => !isTrue(value),
  '-': negate,
  '+': plus,
};

function compileUnary({operator, operand, start}: NodeOf<'unary'>, frame: Frame): Evaluate {
  const evaluate = compileExpression(operand, frame);
  const apply = unaryOperators[operator];
  return (runtime, scope) => {
    const value = evaluate(runtime, scope);
    runtime.position = start;
    return apply(value);
  };
}

function compileBinary({operator, left, right, start}: NodeOf<'binary'>, frame: Frame): Evaluate {
  const evaluateLeft = compileExpression(left, frame);
  const evaluateRight = compileExpression(right, frame);
  return (runtime, scope) => {
    const leftValue = evaluateLeft(runtime, scope);
    const rightValue = evaluateRight(runtime, scope);
    runtime.position = start;
    runtime.meter.read(leftValue);
    runtime.meter.read(rightValue);
    return runtime.meter.made(binary(operator, leftValue, rightValue));
  };
}

function compileConcat({items, start}: NodeOf<'concat'>, frame: Frame): Evaluate {
  const evaluateItems = compileItems(items, frame);
  return (runtime, scope) => {
    const values = evaluateItems(runtime, scope);
    runtime.position = start;
    return runtime.meter.made(concatenated(values.map(softText), runtime.autoescape));
  };
}

function concatenated(texts: readonly (string | Markup)[], autoescape: boolean): Value {
  if (autoescape && texts.some((text) => text instanceof Markup)) {
    return new Markup(texts.map((text) => escapeMarkup(text).text).join(''));
  }
  return texts.map((text) => (text instanceof Markup ? text.text : text)).join('');
}

const compareOperators: Readonly<Record<CompareOperator, (left: Value, right: Value) => boolean>> = {
  '==': equals,
  '!=': (left, right) => !equals(left, right),
  '<': (left, right) => compare('<', left, right),
  '<=': (left, right) => compare('<=', left, right),
  '>': (left, right) => compare('>', left, right),
  '>=': (left, right) => compare('>=', left, right),
  in: (left, right) => contains(right, left),
  'not in': (left, right) => !contains(right, left),
};

function compileCompare({first, rest, start}: NodeOf<'compare'>, frame: Frame): Evaluate {
  const evaluateFirst = compileExpression(first, frame);
  const steps = rest.map(({operator, operand}) => ({
    holds: compareOperators[operator],
    evaluate: compileExpression(operand, frame),
  }));
  return (runtime, scope) => {
    let left = evaluateFirst(runtime, scope);
    for (const {holds, evaluate} of steps) {
      const right = evaluate(runtime, scope);
      runtime.position = start;
      runtime.meter.read(left);
      runtime.meter.read(right);
      if (!holds(left, right)) return false;
      left = right;
    }
    return true;
  };
}

function compileConditional(node: NodeOf<'conditional'>, frame: Frame): Evaluate {
  const inner = frame.soft();
  const test = compileExpression(node.test, inner);
  const whenTrue = compileExpression(node.whenTrue, inner);
  const whenFalse = node.whenFalse ? compileExpression(node.whenFalse, inner) : missingElse(node, frame);
  return (runtime, scope) => (isTrue(test(runtime, scope)) ? whenTrue : whenFalse)(runtime, scope);
}

function missingElse({start}: NodeOf<'conditional'>, {unit}: Frame): Evaluate {
  const {line} = locate(unit.source, start);
  const missing = Undefined.ofHint(
    `the inline if-expression on line ${line} evaluated to false and no else section was defined.`,
  );
  return () => missing;
}
