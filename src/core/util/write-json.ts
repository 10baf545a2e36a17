/**
 * Compact JSON text that keeps what `JSON.stringify` loses: the kind of every number that `parseJson` read (`1.0` stays a
 * float, long integers keep their digits, NaN and the infinities are written as Python writes them and never become
 * null), and the order of a map's keys, which a JavaScript object cannot keep when they look like numbers.
 */
import {JsonFloat} from './parse-json.ts';

/** Properties that are undefined are left out. */
export function writeJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (Array.isArray(value)) return writeArray(value);
  // The rule, asked first.
  if (Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in (value as object)))
    return writeFields(value as object);
  if (value instanceof JsonFloat) return floatText(value.value);
  if (value instanceof Map) return writeObject([...value]);
  if (isPlain(value)) return writeFields(value);
  return JSON.stringify(value) ?? 'null';
}

/** Shortest digits that read back, with a fraction or an exponent. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Written once for each token of each stream: no lists in between. */
function writeArray(values: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + writeJson(values[index]);
  return `${text}]`;
}

function writeFields(fields: object): string {
  let text = '{';
  for (const key of Object.keys(fields)) {
    const value = (fields as Record<string, unknown>)[key];
    if (value === undefined) continue;
    text += (text === '{' ? '' : ',') + quotedKey(key) + writeJson(value);
  }
  return `${text}}`;
}

/** Keys as they stand before their value. Bodies have few different ones, but clients may send any. */
const quotedKeys = new Map<string, string>();
const mostQuotedKeys = 1000;
const longestQuotedKey = 64;

function quotedKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const quoted = `${JSON.stringify(key)}:`;
  if (quotedKeys.size < mostQuotedKeys && key.length <= longestQuotedKey) quotedKeys.set(key, quoted);
  return quoted;
}

function writeObject(entries: [unknown, unknown][]): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  return `{${shown.map(([key, value]) => `${JSON.stringify(String(key))}:${writeJson(value)}`).join(',')}}`;
}

/** Objects that say themselves what they are in JSON are left to `JSON.stringify`. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
