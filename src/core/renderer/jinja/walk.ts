/** The children of a node and all nodes below it, in the order in which jinja2 visits them. */
import {assertNever} from '../../util/assert.ts';
import type {AnyNode, CallSyntax, MacroParameter, Target} from './ast.ts';

/** Nodes, their children, the children of these and so on; what `descend` refuses is given out, but not entered. */
export function* walkAll(
  nodes: readonly AnyNode[],
  descend: (node: AnyNode) => boolean = () => true,
): Generator<AnyNode> {
  const open = nodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    if (descend(node)) open.push(...childrenOf(node).toReversed());
  }
}

export function childrenOf(node: AnyNode): readonly AnyNode[] {
  switch (node.type) {
    case 'name':
    case 'constant':
    case 'name-target':
    case 'namespace-target':
    case 'text':
    case 'loop-control':
      return [];
    case 'list':
    case 'tuple':
    case 'tuple-target':
    case 'concat':
      return node.items;
    case 'dict':
      return node.entries.flatMap(({key, value}) => [key, value]);
    case 'attribute':
      return [node.object];
    case 'item':
      return [node.object, node.key];
    case 'slice':
      return given([node.from, node.to, node.step]);
    case 'call':
      return [node.callee, ...argumentsOf(node.call)];
    case 'filter':
    case 'test':
      return [...given([node.operand]), ...argumentsOf(node.call)];
    case 'unary':
      return [node.operand];
    case 'binary':
    case 'logical':
      return [node.left, node.right];
    case 'compare':
      return [node.first, ...node.rest.map(({operand}) => operand)];
    case 'conditional':
      return given([node.test, node.whenTrue, node.whenFalse]);
    case 'output':
      return node.expressions;
    case 'for':
      return [node.target, node.iterable, ...node.body, ...node.otherwise, ...given([node.test])];
    case 'if':
      return [...node.branches.flatMap(({test, body}) => [test, ...body]), ...node.otherwise];
    case 'set':
      return [node.target, node.value];
    case 'set-block':
      return [node.target, ...given([node.filter]), ...node.body];
    case 'with':
      return [...node.bindings.map(({target}) => target), ...node.bindings.map(({value}) => value), ...node.body];
    case 'macro':
      return [...parametersOf(node.parameters), ...node.body];
    case 'call-block':
      return [node.call, ...parametersOf(node.parameters), ...node.body];
    case 'filter-block':
      return [...node.body, node.filter];
    case 'autoescape':
      return [node.value, ...node.body];
    case 'generation':
    case 'block':
      return node.body;
    case 'external':
      return [node.template];
    default:
      return assertNever(node);
  }
}

/** Names that a target sets, from left to right. */
export function targetNames(target: Target): string[] {
  if (target.type === 'tuple-target') return target.items.flatMap(targetNames);
  return target.type === 'name-target' ? [target.name] : [];
}

function argumentsOf({positional, keyword, positionalSpread, keywordSpread}: CallSyntax): AnyNode[] {
  return [...positional, ...keyword.map(({value}) => value), ...given([positionalSpread, keywordSpread])];
}

/** Parameters are targets, so that a walk sees that they hide outer names. */
function parametersOf(parameters: readonly MacroParameter[]): AnyNode[] {
  const targets = parameters.map(({name}): Target => ({type: 'name-target', name, start: 0, end: 0}));
  return [...targets, ...given(parameters.map(({defaultValue}) => defaultValue))];
}

function given<T>(nodes: readonly (T | null)[]): T[] {
  return nodes.filter((node) => node !== null);
}
