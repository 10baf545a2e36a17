/** From the values of `util/parse-json.ts` (plain objects, arrays, numbers, `JsonFloat`) to the values of templates. */
import {JsonFloat, orderedEntries} from '../../util/parse-json.ts';
import {PyDict, PyFloat, PyObject, PyTuple, type Value} from './values.ts';

/**
 * Objects become dicts in the order of their keys, `Map`s too. An integer stays one, a number with a fraction becomes a
 * float. Values of templates pass as they are; an absent value is None.
 */
export function fromJson(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (typeof value === 'number') return fromNumber(value);
  if (value instanceof JsonFloat) return new PyFloat(value.value);
  if (Array.isArray(value)) return value.map(fromJson);
  if (isTemplateValue(value)) return value;
  const entries = value instanceof Map ? value.entries() : orderedEntries(value as Record<string, unknown>);
  const dict = new PyDict();
  for (const [key, entry] of entries) if (entry !== undefined) dict.set(key as string, fromJson(entry));
  return dict;
}

function fromNumber(value: number): Value {
  return Number.isSafeInteger(value) ? value + 0 : new PyFloat(value);
}

function isTemplateValue(value: unknown): value is PyObject | PyDict | PyFloat | PyTuple {
  return [PyObject, PyDict, PyFloat, PyTuple].some((kind) => value instanceof kind);
}
