/**
 * jinja2 computes constant parts of a template before it runs. Results are the same, with two exceptions that show: a
 * constant dict with a key that cannot be one is a mistake of the template even where it is never reached, and a slice
 * of a constant that has no parts prints nothing.
 */
import type {AnyNode, Expression} from './ast.ts';
import {PlacedError} from './template-fault.ts';
import {childrenOf} from './walk.ts';

/** Expressions that jinja2 folds wherever they stand, with everything inside; others only when they are printed. */
const foldedEverywhere: ReadonlySet<AnyNode['type']> = new Set([
  'attribute',
  'item',
  'call',
  'filter',
  'test',
  'unary',
  'binary',
  'concat',
  'compare',
  'logical',
  'conditional',
]);

/** @throws PlacedError for a constant key that has no hash */
export function checkConstantKeys(nodes: readonly AnyNode[], isFolded = false): void {
  for (const node of nodes) {
    const foldsInside = isFolded || foldedEverywhere.has(node.type);
    if (node.type === 'output') node.expressions.forEach(fold);
    else if (node.type === 'dict' && foldsInside) fold(node);
    checkConstantKeys(childrenOf(node), foldsInside);
  }
}

/** @returns whether the literal is constant; what comes behind a part that is not is left for the run */
function fold(node: Expression): boolean {
  switch (node.type) {
    case 'constant':
      return true;
    case 'list':
    case 'tuple':
      return node.items.every(fold);
    case 'dict':
      return node.entries.every(({key, value}) => fold(key) && fold(value) && hasHash(key));
    default:
      return printsNothing(node);
  }
}

/** @throws PlacedError when it has none */
function hasHash(key: Expression): boolean {
  if (key.type === 'tuple') return key.items.every(hasHash);
  if (key.type !== 'list' && key.type !== 'dict') return true;
  throw new PlacedError('TypeError', `unhashable type: '${key.type}'`, key.start);
}

/** Whether an expression is printed as nothing, such as `(0)[1:]`: without folding it would be an error. */
export function printsNothing(node: Expression): boolean {
  if (node.type !== 'item' || node.key.type !== 'slice') return false;
  const {object, key} = node;
  const hasNoParts = object.type === 'constant' && typeof object.value !== 'string';
  return hasNoParts && childrenOf(key).every(({type}) => type === 'constant');
}
