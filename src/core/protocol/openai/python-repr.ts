/**
 * JSON values the way Python prints them: error messages of the contract quote values as `repr` or `str` of the parsed
 * JSON, such as `['x']`, `None`, `1.0` or `1e+30`.
 */
import {isPlainObject, JsonFloat} from '../../util/parse-json.ts';

const ESCAPED: Record<string, string> = {'\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t'};
/** Characters that Python's repr writes as escapes: not printable ones. */
const NOT_PRINTABLE = /[\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function escapeCharacter(character: string): string {
  const short = ESCAPED[character];
  if (short) return short;
  const code = character.codePointAt(0) as number;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Single quotes, or double quotes when the text holds a single quote and no double quote. */
function pythonStringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(NOT_PRINTABLE, escapeCharacter);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

/** Exponents with a sign and at least two digits: `1e+30`, `1e-07`. */
function padExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A float: shortest digits that read back, `1.0` for whole numbers, exponents from 1e16 up and below 1e-4. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) return padExponent(value.toExponential());
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** A number as the JSON reader made it: integers were written as integers. */
function pythonNumber(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : pythonFloat(value);
}

/** An exception object, as it stands in the context of a type check's entry. */
export class PythonError {
  readonly type: string;
  readonly message: string;

  constructor(type: string, message: string) {
    this.type = type;
    this.message = message;
  }
}

/** `repr(value)` of a value that came from JSON. */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return pythonStringRepr(value);
  if (typeof value === 'number') return pythonNumber(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof JsonFloat) return pythonFloat(value.value);
  if (value instanceof PythonError) return `${value.type}(${pythonStringRepr(value.message)})`;
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (isPlainObject(value)) return pythonDictRepr(Object.entries(value));
  return String(value);
}

/** A dictionary from its entries, in order. */
export function pythonDictRepr(entries: [string, unknown][]): string {
  return `{${entries.map(([key, entry]) => `${pythonStringRepr(key)}: ${pythonRepr(entry)}`).join(', ')}}`;
}

/** `str(value)`: like `repr`, but a string stands without quotes. */
export function pythonStr(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}
