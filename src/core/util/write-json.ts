/**
 * Compact JSON text that keeps what `JSON.stringify` loses: the kind of every number that `parseJson` read (`1.0` stays a
 * float, long integers keep their digits, NaN and the infinities are written as Python writes them and never become
 * null), and the order of a map's keys, which a JavaScript object cannot keep when they look like numbers.
 */
import {JsonFloat} from './parse-json.ts';

/** Properties that are undefined are left out. */
export function writeJson(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof JsonFloat) return floatText(value.value);
  if (value instanceof Map) return writeObject([...value]);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (isPlain(value)) return writeObject(Object.entries(value));
  return JSON.stringify(value) ?? 'null';
}

/** Shortest digits that read back, with a fraction or an exponent. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function writeObject(entries: [unknown, unknown][]): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  return `{${shown.map(([key, value]) => `${JSON.stringify(String(key))}:${writeJson(value)}`).join(',')}}`;
}

/** Objects that say themselves what they are in JSON are left to `JSON.stringify`. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
