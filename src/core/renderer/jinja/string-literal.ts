/** Escapes of string literals, with the rules and error texts of Python's `unicode-escape`. */
import {syntaxError} from './template-fault.ts';

const escapeSequence = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/gu;

const simpleEscapes: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const malformed: Readonly<Record<string, string>> = {
  x: 'truncated \\xXX escape',
  u: 'truncated \\uXXXX escape',
  U: 'truncated \\UXXXXXXXX escape',
  N: 'unknown Unicode character name',
};

/**
 * @param body what stands between the quotes
 * @param offset of the literal, for errors
 */
export function unescapeString(body: string, offset: number): string {
  if (!body.includes('\\')) return body;
  return body.replace(
    escapeSequence,
    (_, octal?: string, byte?: string, short?: string, long?: string, other?: string) => {
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const hex = byte ?? short ?? long;
      return hex === undefined ? otherEscape(other!, offset) : characterOf(hex, offset);
    },
  );
}

function characterOf(hex: string, offset: number): string {
  const codePoint = Number.parseInt(hex, 16);
  if (codePoint > 0x10ffff) throw syntaxError('illegal Unicode character', offset);
  return String.fromCodePoint(codePoint);
}

/** Unknown escapes stay as they are. */
function otherEscape(character: string, offset: number): string {
  const simple = simpleEscapes[character];
  if (simple !== undefined) return simple;
  if (malformed[character] !== undefined) throw syntaxError(malformed[character], offset);
  return character > '\u007f' ? escapedName(character) : `\\${character}`;
}

/** jinja2 writes characters beyond ASCII as escapes first; the backslash before one then escapes that of the escape. */
function escapedName(character: string): string {
  const codePoint = character.codePointAt(0)!;
  const digits = codePoint.toString(16);
  if (codePoint <= 0xff) return `\\x${digits}`;
  return codePoint <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
