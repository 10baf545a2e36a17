/** Python's notion of white space, where prompts must come out as Python makes them: U+001C–1F and U+0085, not U+FEFF. */

const space = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const spaceCharacter = new RegExp(space);

/** `str.rstrip()` */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && spaceCharacter.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** `str.strip()` */
export function strip(text: string): string {
  let start = 0;
  while (start < text.length && spaceCharacter.test(text[start]!)) start++;
  return stripEnd(text.slice(start));
}

/** Length in code points, as `len(text)` counts. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isLowSurrogate(text, index) && isHighSurrogate(text, index - 1)) length--;
  }
  return length;
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}
