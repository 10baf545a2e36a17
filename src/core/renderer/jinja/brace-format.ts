/** `text.format(…)`: replacement fields in braces. How fields reach into values is the sandbox's, passed in. */
import {formatValue} from './format-spec.ts';
import {escapeMarkup} from './markup.ts';
import {Markup} from './objects.ts';
import {PythonError, valueError} from './python-error.ts';
import {asciiRepr, repr, str} from './text.ts';
import type {Value} from './values.ts';

export interface FieldAccess {
  attribute(value: Value, name: string): Value;
  item(value: Value, key: Value): Value;
}

export interface FieldValues {
  readonly positional: readonly Value[];
  named(name: string): Value | undefined;
}

const conversions: Readonly<Record<string, (value: Value) => Value>> = {s: str, r: repr, a: asciiRepr};
const maxDepth = 2;

/** @throws PythonError */
export function braceFormat(format: string | Markup, values: FieldValues, access: FieldAccess): string | Markup {
  const escapes = format instanceof Markup;
  const text = new Formatter(values, access, escapes).format(escapes ? format.text : format, maxDepth);
  return escapes ? new Markup(text) : text;
}

class Formatter {
  readonly #values: FieldValues;
  readonly #access: FieldAccess;
  readonly #escapes: boolean;
  /** Next automatic number, or false once a number was written. */
  #nextIndex: number | false = 0;

  constructor(values: FieldValues, access: FieldAccess, escapes: boolean) {
    this.#values = values;
    this.#access = access;
    this.#escapes = escapes;
  }

  format(text: string, depth: number): string {
    if (depth < 0) throw valueError('Max string recursion exceeded');
    let result = '';
    let position = 0;
    while (position < text.length) {
      const character = text[position]!;
      if (character !== '{' && character !== '}') {
        result += character;
        position++;
      } else if (text[position + 1] === character) {
        result += character;
        position += 2;
      } else {
        const end = fieldEnd(text, position);
        result += this.#field(text.slice(position + 1, end), depth);
        position = end + 1;
      }
    }
    return result;
  }

  #field(field: string, depth: number): string {
    const [, name, conversion, spec = ''] = /^((?:\[[^\]]*\]|[^!:[])*)(?:!([^:]*))?(?::([\s\S]*))?$/.exec(field) ?? [];
    if (name === undefined) throw valueError("expected '}' before end of string");
    const value = this.#resolve(name);
    const convert = conversion === undefined ? (same: Value): Value => same : conversions[conversion];
    if (!convert) throw valueError(`Unknown conversion specifier ${conversion}`);
    return this.#write(convert(value), this.format(spec, depth - 1));
  }

  #write(value: Value, spec: string): string {
    if (!this.#escapes) return formatValue(value, spec);
    if (!(value instanceof Markup)) return escapeMarkup(formatValue(value, spec)).text;
    if (spec !== '') throw valueError('Unsupported format specification for Markup.');
    return value.text;
  }

  #resolve(name: string): Value {
    const [first = ''] = /^[^.[]*/.exec(name)!;
    let value = this.#start(first);
    const rest = name.slice(first.length);
    for (const [, attribute, key] of rest.matchAll(/\.([^.[]*)|\[([^\]]*)\]/g)) {
      value =
        attribute === undefined
          ? this.#access.item(value, /^\d+$/.test(key!) ? Number(key) : key!)
          : this.#access.attribute(value, attribute);
    }
    return value;
  }

  #start(first: string): Value {
    if (first !== '' && !/^\d+$/.test(first)) return this.#named(first);
    const index = this.#index(first);
    const value = this.#values.positional[index];
    if (value !== undefined) return value;
    throw new PythonError('IndexError', 'tuple index out of range');
  }

  #named(name: string): Value {
    const value = this.#values.named(name);
    if (value === undefined) throw new PythonError('KeyError', repr(name));
    return value;
  }

  #index(written: string): number {
    if (written === '') {
      if (this.#nextIndex === false) {
        throw valueError('cannot switch from manual field specification to automatic field numbering');
      }
      return this.#nextIndex++;
    }
    if (this.#nextIndex !== false && this.#nextIndex > 0) {
      throw valueError('cannot switch from automatic field numbering to manual field specification');
    }
    this.#nextIndex = false;
    return Number(written);
  }
}

/** Index of the brace that closes the field which opens at `start`. */
function fieldEnd(text: string, start: number): number {
  if (text[start] === '}') throw valueError("Single '}' encountered in format string");
  if (start + 1 >= text.length) throw valueError("Single '{' encountered in format string");
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    if (text[index] === '{') depth++;
    if (text[index] === '}' && --depth === 0) return index;
  }
  throw valueError("expected '}' before end of string");
}
