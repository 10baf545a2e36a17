/** Python's `==`, `<` and its kin, and `in`: by value across kinds of numbers, by content for lists and dicts. */
import {compareTexts} from './code-points.ts';
import {DictView, textOf, Undefined} from './objects.ts';
import {typeError} from './python-error.ts';
import {iterate} from './sequences.ts';
import {isNumeric, PyDict, PyFloat, PyObject, PyTuple, typeName, type Value} from './values.ts';

/** `left == right` */
export function equals(left: Value, right: Value): boolean {
  if (typeof left === typeof right && typeof left !== 'object') return left === right;
  if (isNumeric(left)) return isNumeric(right) && numberOrder(numberOf(left), numberOf(right)) === 0;
  const leftText = textOf(left);
  if (leftText !== undefined) return leftText === textOf(right);
  if (Array.isArray(left)) return Array.isArray(right) && allEqual(left, right);
  if (left instanceof PyTuple) return right instanceof PyTuple && allEqual(left.items, right.items);
  if (left instanceof PyDict) return right instanceof PyDict && dictsEqual(left, right);
  return left === right || (left instanceof PyObject && left.equals(right));
}

/** Inside containers a value equals itself, even NaN. */
export function isSameOrEqual(left: Value, right: Value): boolean {
  return left === right || equals(left, right);
}

function allEqual(left: readonly Value[], right: readonly Value[]): boolean {
  return left.length === right.length && left.every((item, index) => isSameOrEqual(item, right[index]!));
}

function dictsEqual(left: PyDict, right: PyDict): boolean {
  if (left.size !== right.size) return false;
  for (const [key, value] of left.entries()) {
    const other = right.get(key);
    if (other === undefined || !isSameOrEqual(value, other)) return false;
  }
  return true;
}

function numberOf(value: number | bigint | boolean | PyFloat): number | bigint {
  if (value instanceof PyFloat) return value.value;
  return typeof value === 'boolean' ? Number(value) : value;
}

export type OrderOperator = '<' | '<=' | '>' | '>=';

const holds: Readonly<Record<OrderOperator, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** `left < right` and its kin. @throws PythonError when the kinds have no order */
export function compare(operator: OrderOperator, left: Value, right: Value): boolean {
  return holds[operator](order(operator, left, right));
}

/** `left < right`, as sorting asks. */
export function isLess(left: Value, right: Value): boolean {
  return compare('<', left, right);
}

/** Negative, zero, positive, or NaN where nothing holds. */
function order(operator: OrderOperator, left: Value, right: Value): number {
  if (isNumeric(left) && isNumeric(right)) return numberOrder(numberOf(left), numberOf(right));
  const leftText = textOf(left);
  const rightText = textOf(right);
  if (leftText !== undefined && rightText !== undefined) return compareTexts(leftText, rightText);
  if (Array.isArray(left) && Array.isArray(right)) return itemsOrder(operator, left, right);
  if (left instanceof PyTuple && right instanceof PyTuple) return itemsOrder(operator, left.items, right.items);
  if (left instanceof DictView && right instanceof DictView) return viewsOrder(left, right);
  if (left instanceof Undefined) throw left.error();
  if (right instanceof Undefined) throw right.error();
  const names = `'${typeName(left)}' and '${typeName(right)}'`;
  throw typeError(`'${operator}' not supported between instances of ${names}`);
}

function numberOrder(left: number | bigint, right: number | bigint): number {
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: `==` compares a number with a bigint by value
  return left == right ? 0 : Number.NaN;
}

/** The first elements that differ decide, else the lengths. */
function itemsOrder(operator: OrderOperator, left: readonly Value[], right: readonly Value[]): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    if (!isSameOrEqual(left[index]!, right[index]!)) return order(operator, left[index]!, right[index]!);
  }
  return left.length - right.length;
}

/** Views of keys are ordered as sets are: a part is less than the whole. */
function viewsOrder(left: DictView, right: DictView): number {
  const [smaller, larger] = left.length() <= right.length() ? [left, right] : [right, left];
  for (const item of iterate(smaller)) if (!contains(larger, item)) return Number.NaN;
  return left.length() - right.length();
}

/** `item in container` */
export function contains(container: Value, item: Value): boolean {
  const text = textOf(container);
  if (text !== undefined) return text.includes(searchedText(item));
  if (container instanceof PyDict) return container.has(item);
  if (container instanceof DictView && container.kind === 'keys') return container.dict.has(item);
  if (!isContainer(container)) throw typeError(`argument of type '${typeName(container)}' is not iterable`);
  for (const element of iterate(container)) if (isSameOrEqual(element, item)) return true;
  return false;
}

function isContainer(value: Value): boolean {
  if (value instanceof PyObject) return value.iterate !== undefined;
  return Array.isArray(value) || value instanceof PyTuple;
}

function searchedText(item: Value): string {
  const text = textOf(item);
  if (text === undefined) throw typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  return text;
}
