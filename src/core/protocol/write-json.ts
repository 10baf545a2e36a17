/**
 * JSON text that keeps the kind of every number that `parseJson` read: `1.0` stays a float, long integers keep their
 * digits, and NaN and the infinities are written as Python writes them, never as null.
 */
import {isPlainObject, JsonFloat} from '../util/parse-json.ts';
import {pythonFloat} from './openai/python-repr.ts';

const NOT_FINITE: Readonly<Record<string, string>> = {nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity'};

function floatText(value: number): string {
  const text = pythonFloat(value);
  return NOT_FINITE[text] ?? text;
}

function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : floatText(value);
}

function memberTexts(value: Record<string, unknown>): string[] {
  const members = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return members.map(([key, entry]) => `${JSON.stringify(key)}:${writeJson(entry)}`);
}

/** @param value as `parseJson` returns it, or built from such values; keys with `undefined` are left out */
export function writeJson(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof JsonFloat) return floatText(value.value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (isPlainObject(value)) return `{${memberTexts(value).join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}
