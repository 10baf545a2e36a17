/** Which characters Python's `str.isdigit` and its kin accept. Each is true only for a text that is not empty. */
import {isPrintable} from './text.ts';

/** Digits that are no decimals: superscripts, circled digits and the like. */
const otherDigits =
  '\\xb2\\xb3\\xb9\\u{1369}-\\u{1371}\\u{19da}\\u{2070}\\u{2074}-\\u{2079}\\u{2080}-\\u{2089}\\u{2460}-\\u{2468}\\u{2474}-\\u{247c}' +
  '\\u{2488}-\\u{2490}\\u{24ea}\\u{24f5}-\\u{24fd}\\u{24ff}\\u{2776}-\\u{277e}\\u{2780}-\\u{2788}\\u{278a}-\\u{2792}' +
  '\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}';
/** Ideographs with a number's value. */
const numberIdeographs =
  '㐅㒃㠪㭍一七万三九二五世亿什仟仨伍佰億兆兩八六十千卄卅卌叁參叄叅四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零' +
  '\\uf96b\\uf973\\uf978\\uf9b2\\uf9d1\\uf9d3\\uf9fd𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭\\u{2f890}';
const space = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const characterClasses = {
  isalpha: '\\p{L}',
  isdecimal: '\\p{Nd}',
  isdigit: `\\p{Nd}${otherDigits}`,
  isnumeric: `\\p{N}${numberIdeographs}`,
  isalnum: '\\p{L}\\p{N}',
  isspace: space,
};

type Predicate = (text: string) => boolean;

/** Name of the method -> does the text pass? */
export const textPredicates: Readonly<Record<string, Predicate>> = {
  ...Object.fromEntries(
    Object.entries(characterClasses).map(([name, content]): [string, Predicate] => {
      const pattern = new RegExp(`^[${content}]+$`, 'u');
      return [name, (text) => pattern.test(text)];
    }),
  ),
  isascii: (text) => /^[\x00-\x7f]*$/.test(text),
  isidentifier: (text) => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text),
  isprintable: isPrintable,
};

const spaceCharacter = new RegExp(`[${space}]`, 'u');

export function isSpace(character: string): boolean {
  return spaceCharacter.test(character);
}

/** A run of white space as Python's `\s` and `str.split()` have it. */
export const spaceRun = new RegExp(`[${space}]+`, 'u');

/** Any other character, as text for a pattern. */
export const notSpace = `[^${space}]`;
