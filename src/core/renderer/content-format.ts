/**
 * Which form of message content a template expects, read from its syntax tree: a template that loops over the content
 * of a message wants the list of parts (`openai`), every other one a text (`string`). Follows vLLM's
 * `vllm/renderers/hf.py` (_detect_content_format).
 */
import type {ContentFormat} from './content-parts.ts';
import type {AnyNode, CallExpression, Expression, ForStatement, MacroStatement, Target} from './jinja/ast.ts';
import {childrenOf} from './jinja/walk.ts';

export interface ContentFormatFinding {
  readonly format: ContentFormat;
  /** The loop over content that decided; null for `string`. */
  readonly loop: ForStatement | null;
}

/** A node with the macro it stands in. */
interface Place<Node extends AnyNode = AnyNode> {
  readonly node: Node;
  readonly macro: MacroStatement | null;
}

type LoopPlace = Place<ForStatement>;

/** Thrown when a loop takes apart what it iterates: the reference gives up there and takes `string`. */
class UndecidableLoop extends Error {}

export function detectContentFormat(body: readonly AnyNode[]): ContentFormatFinding {
  try {
    const loop = loopOverContent(body);
    return loop ? {format: 'openai', loop} : {format: 'string', loop: null};
  } catch (error) {
    if (error instanceof UndecidableLoop) return {format: 'string', loop: null};
    throw error;
  }
}

function loopOverContent(body: readonly AnyNode[]): ForStatement | undefined {
  const places = placesIn(body);
  const loops = places.filter((place): place is LoopPlace => place.node.type === 'for');
  const lists = messageLists(places.map(({node}) => node));
  const messages = new Set(loops.filter(({node}) => lists.has(nameOf(unwrap(node.iterable)) ?? '')).map(targetOf));
  const isContent = (node: Expression) => isContentOf(unwrap(node), messages);
  const found =
    singleTargets(loops.filter(({node}) => isContent(node.iterable)))[0] ??
    singleTargets(loopsOverParameters(places, loops, isContent))[0] ??
    loops.find(({node, macro}) => macro === null && isName(node.iterable, 'content'));
  return found?.node;
}

/** Names of variables that hold the message list or a part of it; `ns.x` for attributes of namespaces. */
function messageLists(nodes: readonly AnyNode[]): Set<string> {
  const assignments = nodes.flatMap(assignmentsOf);
  const names = new Set(['messages']);
  for (let size = 0; size !== names.size; ) {
    size = names.size;
    for (const [target, value] of assignments) if (names.has(nameOf(unwrap(value)) ?? '')) names.add(target);
  }
  return names;
}

/** `set x = value`, `set ns.x = value`, and the arguments of `set ns = namespace(x=value)`. */
function assignmentsOf(node: AnyNode): [string, Expression][] {
  const target = node.type === 'set' ? targetName(node.target) : null;
  if (target === null || node.type !== 'set') return [];
  const {value} = node;
  if (value.type !== 'call' || !isName(value.callee, 'namespace')) return [[target, value]];
  return value.call.keyword.map((argument) => [`${target}.${argument.name}`, argument.value]);
}

/** Loops inside a macro over a parameter that some call fills with the content of a message. */
function loopsOverParameters(
  places: readonly Place[],
  loops: readonly LoopPlace[],
  isContent: (node: Expression) => boolean,
): LoopPlace[] {
  const nodes = places.map(({node}) => node);
  const macros = nodes.filter((node) => node.type === 'macro');
  const calls = nodes.filter((node) => node.type === 'call');
  return macros.flatMap((macro) => {
    const macroCalls = calls.filter(({callee}) => isName(callee, macro.name));
    const parameters = new Set(macroCalls.flatMap((call) => contentParameters(macro, call, isContent)));
    return loops.filter(({node, macro: around}) => around === macro && parameters.has(nameOf(node.iterable)));
  });
}

function contentParameters(
  {parameters}: MacroStatement,
  {call}: CallExpression,
  isContent: (node: Expression) => boolean,
): (string | null)[] {
  const positional = call.positional.map((value, index) => ({name: parameters[index]?.name ?? null, value}));
  return [...positional, ...call.keyword].filter(({value}) => isContent(value)).map(({name}) => name);
}

function singleTargets(loops: readonly LoopPlace[]): readonly LoopPlace[] {
  for (const loop of loops) targetOf(loop);
  return loops;
}

function targetOf({node: {target}}: LoopPlace): string {
  if (target.type === 'name-target') return target.name;
  throw new UndecidableLoop();
}

function targetName(target: Target): string | null {
  if (target.type === 'namespace-target') return `${target.name}.${target.attribute}`;
  return target.type === 'name-target' ? target.name : null;
}

function isContentOf(node: Expression, messages: ReadonlySet<string>): boolean {
  if (node.type !== 'attribute' && node.type !== 'item') return false;
  const isContent =
    node.type === 'attribute' ? node.name === 'content' : node.key.type === 'constant' && node.key.value === 'content';
  const object = unwrap(node.object);
  return isContent && object.type === 'name' && messages.has(object.name);
}

/** The expression behind any number of filters, tests and slices. */
function unwrap(node: Expression): Expression {
  if ((node.type === 'filter' || node.type === 'test') && node.operand !== null) return unwrap(node.operand);
  return node.type === 'item' && node.key.type === 'slice' ? unwrap(node.object) : node;
}

/** `x` or `ns.x` as text; null for every other expression. */
function nameOf(node: Expression): string | null {
  if (node.type === 'name') return node.name;
  return node.type === 'attribute' && node.object.type === 'name' ? `${node.object.name}.${node.name}` : null;
}

function isName(node: Expression, name: string): boolean {
  return node.type === 'name' && node.name === name;
}

/** All nodes, each before its children. */
function placesIn(nodes: readonly AnyNode[]): Place[] {
  const places: Place[] = [];
  const open = nodes.map((node): Place => ({node, macro: null})).reverse();
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    places.push(place);
    const macro = place.node.type === 'macro' ? place.node : place.macro;
    for (const node of childrenOf(place.node).toReversed()) open.push({node, macro});
  }
  return places;
}
