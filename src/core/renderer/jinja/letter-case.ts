/** Case of letters as Python's `str` has it, where JavaScript lacks the operation or decides otherwise. */
import {characters} from './code-points.ts';

const digraphs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['Ǆǅǆ', 'Ǉǈǉ', 'Ǌǋǌ', 'Ǳǲǳ'].flatMap((forms) => [...forms].map((form) => [form, forms[1]!]))),
  ŉ: 'ʼN',
};
const georgian = /^[ა-ჺჽ-ჿ]$/;
const iotaSubscript = '\u0345';
const cased = /[\p{Lowercase}\p{Uppercase}\p{Lt}]/u;
const uppercase = /[\p{Uppercase}]/u;
const lowercase = /[\p{Lowercase}]/u;
const upperOrTitle = /[\p{Uppercase}\p{Lt}]/u;
const lowerOrTitle = /[\p{Lowercase}\p{Lt}]/u;

/** The form of a character at the beginning of a word: `ǆ` gives `ǅ`, `ß` gives `Ss`. */
function toTitleCase(character: string): string {
  if (character in digraphs) return digraphs[character]!;
  if (georgian.test(character)) return character;
  const [first, ...rest] = character.normalize('NFD');
  if (rest.includes(iotaSubscript)) return (first!.toUpperCase() + rest.join('')).normalize('NFC');
  const [head, ...tail] = character.toUpperCase();
  return head! + tail.join('').toLowerCase();
}

/** `str.capitalize()` */
export function capitalize(text: string): string {
  const first = text === '' ? '' : String.fromCodePoint(text.codePointAt(0)!);
  return toTitleCase2(first) + lowerAfter(text, first.length);
}

function toTitleCase2(character: string): string {
  return character === '' ? '' : toTitleCase(character);
}

/** Lower case from `start` on; what stands before decides about a final sigma. */
function lowerAfter(text: string, start: number): string {
  return text.toLowerCase().slice(text.slice(0, start).toLowerCase().length);
}

/** `str.title()`: a letter after a letter is lower case, any other begins a word. */
export function titleCase(text: string): string {
  return text.replace(/(?:[\p{Lowercase}\p{Uppercase}\p{Lt}]\p{M}*)+|[\s\S]/gu, (run) =>
    cased.test(run) ? capitalize(run) : run,
  );
}

/** `str.swapcase()` */
export function swapCase(text: string): string {
  const lower = (character: string, offset: number): string =>
    character === 'Σ'
      ? text
          .slice(0, offset + 1)
          .toLowerCase()
          .at(-1)!
      : character.toLowerCase();
  return text.replace(/[\s\S]/gu, (character, offset: number) => {
    if (uppercase.test(character)) return lower(character, offset);
    return lowercase.test(character) ? character.toUpperCase() : character;
  });
}

/** `str.casefold()` */
export function caseFold(text: string): string {
  return characters(text).map(foldCharacter).join('');
}

function foldCharacter(character: string): string {
  if (character === 'ı' || /^[\u13a0-\u13f5]$/.test(character)) return character;
  if (character === 'ẞ') return 'ss';
  if (/^[\u13f8-\u13fd\uab70-\uabbf]$/.test(character)) return character.toUpperCase();
  return character.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** `str.islower()`: at least one letter with case, and none that is upper. */
export function isLower(text: string): boolean {
  return lowercase.test(text) && !upperOrTitle.test(text);
}

/** `str.isupper()` */
export function isUpper(text: string): boolean {
  return uppercase.test(text) && !lowerOrTitle.test(text);
}

/** `str.istitle()`: words begin with one upper letter, the rest is lower. */
export function isTitle(text: string): boolean {
  let afterCased = false;
  let found = false;
  for (const character of characters(text)) {
    const starts = upperOrTitle.test(character);
    if (starts ? afterCased : lowercase.test(character) && !afterCased) return false;
    afterCased = cased.test(character);
    found ||= afterCased;
  }
  return found;
}
