/**
 * Which form of message content a template expects, read from its syntax tree: a template that loops over the content
 * of a message wants the list of parts (`openai`), every other one a text (`string`). Follows vLLM's
 * `vllm/renderers/hf.py` (_detect_content_format).
 */
import type {ContentFormat} from './content-parts.ts';

/** A node of the syntax tree, as the template engine's parser makes it. */
export interface SyntaxNode {
  type: string;
  [field: string]: unknown;
}

/** A `for` with the macro it stands in. */
interface Loop {
  /** Null when the loop takes its items apart (`for a, b in …`). */
  target: string | null;
  iterable: SyntaxNode;
  macro: SyntaxNode | null;
}

/** Thrown when a loop takes apart what it iterates: the reference gives up there and takes `string`. */
class UndecidableLoop extends Error {}

export function detectContentFormat(tree: SyntaxNode): ContentFormat {
  try {
    return loopsOverContent(tree) ? 'openai' : 'string';
  } catch (error) {
    if (error instanceof UndecidableLoop) return 'string';
    throw error;
  }
}

function loopsOverContent(tree: SyntaxNode): boolean {
  const nodes = [...walk(tree, null)];
  const loops = nodes.filter(({node}) => node.type === 'For').map(toLoop);
  const lists = messageLists(nodes.map(({node}) => node));
  const messages = new Set(targetsOf(loops.filter(({iterable}) => lists.has(nameOf(unwrap(iterable)) ?? ''))));
  const isContent = (node: SyntaxNode) => isContentOf(unwrap(node), messages);
  return (
    targetsOf(loops.filter(({iterable}) => isContent(iterable))).length > 0 ||
    targetsOf(loopsOverParameters(nodes, loops, isContent)).length > 0 ||
    loops.some(({iterable, macro}) => macro === null && isIdentifier(iterable, 'content'))
  );
}

/** Names of variables that hold the message list or a part of it; `ns.x` for attributes of namespaces. */
function messageLists(nodes: readonly SyntaxNode[]): Set<string> {
  const assignments = nodes.filter(({type}) => type === 'Set').flatMap(assignmentsOf);
  const names = new Set(['messages']);
  for (let size = 0; size !== names.size; ) {
    size = names.size;
    for (const [target, value] of assignments) {
      if (names.has(nameOf(unwrap(value)) ?? '')) names.add(target);
    }
  }
  return names;
}

/** `set x = value`, `set ns.x = value`, and the arguments of `set ns = namespace(x=value)`. */
function assignmentsOf({assignee, value}: SyntaxNode): [string, SyntaxNode][] {
  const target = isNode(assignee) ? nameOf(assignee) : null;
  if (target === null || !isNode(value)) return [];
  if (value.type !== 'CallExpression' || !isIdentifier(value.callee, 'namespace')) return [[target, value]];
  return keywordArguments(value).map(([name, argument]) => [`${target}.${name}`, argument]);
}

/** Loops inside a macro over a parameter that some call fills with the content of a message. */
function loopsOverParameters(
  nodes: readonly {node: SyntaxNode}[],
  loops: readonly Loop[],
  isContent: (node: SyntaxNode) => boolean,
): Loop[] {
  const macros = nodes.map(({node}) => node).filter(({type}) => type === 'Macro');
  const calls = nodes.map(({node}) => node).filter(({type}) => type === 'CallExpression');
  return macros.flatMap((macro) => {
    const macroCalls = calls.filter(({callee}) => isIdentifier(callee, nameOf(macro.name as SyntaxNode) ?? ''));
    const parameters = new Set(macroCalls.flatMap((call) => contentParameters(macro, call, isContent)));
    return loops.filter((loop) => loop.macro === macro && parameters.has(identifierName(loop.iterable) ?? ''));
  });
}

function contentParameters(
  macro: SyntaxNode,
  call: SyntaxNode,
  isContent: (node: SyntaxNode) => boolean,
): (string | null)[] {
  const parameters = (macro.args as SyntaxNode[]).map(parameterName);
  const positional = (call.args as SyntaxNode[])
    .filter(({type}) => type !== 'KeywordArgumentExpression')
    .map((argument, index): [string | null, SyntaxNode] => [parameters[index] ?? null, argument]);
  return [...positional, ...keywordArguments(call)].filter(([, value]) => isContent(value)).map(([name]) => name);
}

function parameterName(parameter: SyntaxNode): string | null {
  return identifierName(parameter.type === 'KeywordArgumentExpression' ? parameter.key : parameter);
}

function keywordArguments(call: SyntaxNode): [string, SyntaxNode][] {
  return (call.args as SyntaxNode[])
    .filter(({type}) => type === 'KeywordArgumentExpression')
    .map(({key, value}) => [identifierName(key) ?? '', value as SyntaxNode]);
}

function toLoop({node, macro}: {node: SyntaxNode; macro: SyntaxNode | null}): Loop {
  const iterable = node.iterable as SyntaxNode;
  const source = iterable.type === 'SelectExpression' ? (iterable.lhs as SyntaxNode) : iterable;
  return {target: identifierName(node.loopvar), iterable: source, macro};
}

function targetsOf(loops: readonly Loop[]): string[] {
  return loops.map(({target}) => {
    if (target === null) throw new UndecidableLoop();
    return target;
  });
}

function isContentOf(node: SyntaxNode, messages: ReadonlySet<string>): boolean {
  if (node.type !== 'MemberExpression') return false;
  const {object, property, computed} = node as SyntaxNode & {object: SyntaxNode; property: SyntaxNode};
  const isContentKey = computed
    ? property.type === 'StringLiteral' && property.value === 'content'
    : isIdentifier(property, 'content');
  return isContentKey && messages.has(identifierName(unwrap(object)) ?? '');
}

/** The expression behind any number of filters, tests and slices. */
function unwrap(node: SyntaxNode): SyntaxNode {
  if (node.type === 'FilterExpression' || node.type === 'TestExpression') return unwrap(node.operand as SyntaxNode);
  const isSlice = node.type === 'MemberExpression' && (node.property as SyntaxNode).type === 'SliceExpression';
  return isSlice ? unwrap(node.object as SyntaxNode) : node;
}

/** `x` or `ns.x` as text; null for every other expression. */
function nameOf(node: SyntaxNode): string | null {
  if (node.type !== 'MemberExpression' || node.computed) return identifierName(node);
  const object = identifierName(node.object);
  const property = identifierName(node.property);
  return object === null || property === null ? null : `${object}.${property}`;
}

function identifierName(node: unknown): string | null {
  return isNode(node) && node.type === 'Identifier' ? (node.value as string) : null;
}

function isIdentifier(node: unknown, name: string): boolean {
  return identifierName(node) === name;
}

function* walk(
  value: unknown,
  macro: SyntaxNode | null,
): Generator<{node: SyntaxNode; macro: SyntaxNode | null}, void, undefined> {
  if (Array.isArray(value)) for (const item of value) yield* walk(item, macro);
  else if (value instanceof Map) for (const entry of value) yield* walk(entry, macro);
  else if (isNode(value)) {
    yield {node: value, macro};
    const inner = value.type === 'Macro' ? value : macro;
    for (const field of Object.values(value)) yield* walk(field, inner);
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
