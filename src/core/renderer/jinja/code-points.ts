/**
 * Strings as Python has them: sequences of code points. JavaScript counts UTF-16 units, which is the same, and quicker,
 * for a text without surrogates; every function here takes that short way when it can.
 */

const surrogate = /[\ud800-\udfff]/;

export function hasSurrogates(text: string): boolean {
  return surrogate.test(text);
}

/** The text's characters, one per code point. */
export function characters(text: string): string[] {
  return hasSurrogates(text) ? [...text] : text.split('');
}

/** The characters from `start` to `end`, both counted in code points and within the text. */
export function substring(text: string, start: number, end: number): string {
  return hasSurrogates(text) ? [...text].slice(start, end).join('') : text.slice(start, end);
}

/** From an index in UTF-16 units to one in code points. */
export function toCodePointIndex(text: string, unitIndex: number): number {
  return hasSurrogates(text) ? [...text.slice(0, unitIndex)].length : unitIndex;
}

/** From an index in code points to one in UTF-16 units. */
export function toUnitIndex(text: string, index: number): number {
  if (!hasSurrogates(text)) return Math.min(index, text.length);
  let units = 0;
  for (const character of text) {
    if (index-- <= 0) break;
    units += character.length;
  }
  return units;
}

/** Order by code points: negative, zero or positive. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = unitRank(left.charCodeAt(index)) - unitRank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Units of characters beyond U+FFFF come after all others. */
function unitRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
