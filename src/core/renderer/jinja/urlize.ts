/** The filter `urlize`: addresses in a text become links. */
import {codePointLength} from '../../util/python-text.ts';
import {substring} from './code-points.ts';
import {escapeText} from './markup.ts';
import {PythonError} from './python-error.ts';
import {stringRepr} from './text.ts';

export interface UrlizeOptions {
  /** Characters shown of an address; null = all. */
  readonly limit: number | null;
  readonly relations: readonly string[];
  readonly target: string | null;
  /** Beginnings of addresses beyond http, www and mailto. */
  readonly schemes: readonly string[];
}

const word = '[\\p{L}\\p{N}_%-]';
const address = new RegExp(
  `^(?:(?:https?://|www\\.)(?:${word}+\\.)*(?:[a-z]{2,63}|xn--[\\p{L}\\p{N}_%]{2,59})` +
    `|(?:${word}{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)` +
    '|https?://(?:\\d{1,3}(?:\\.\\d{1,3}){3}|\\[(?:[\\da-f]{0,4}:){2}(?:[\\da-f]{0,4}:?){1,6}\\])' +
    ')(?::\\d{1,5})?(?:[/?#]\\S*)?$',
  'iu',
);
const mailAddress = /^\S+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$/u;
const schemePattern = /^[\w.+-]{2,}:(?:\/){0,2}$/;
const brackets = [
  ['(', ')'],
  ['<', '>'],
  ['&lt;', '&gt;'],
] as const;

/** @param text escaped already @throws PythonError when a scheme is none */
export function urlize(text: string, options: UrlizeOptions): string {
  for (const scheme of options.schemes) {
    if (schemePattern.test(scheme)) continue;
    throw new PythonError('FilterArgumentError', `${stringRepr(scheme)} is not a valid URI scheme prefix.`);
  }
  return text
    .split(/(\s+)/u)
    .map((part) => linkWord(part, options))
    .join('');
}

function linkWord(part: string, options: UrlizeOptions): string {
  const head = /^(?:[(<]|&lt;)+/.exec(part)?.[0] ?? '';
  const body = part.slice(head.length);
  const tail = /(?:[)>.,\n]|&gt;)+$/.exec(body)?.[0] ?? '';
  const [middle, rest] = balance(body.slice(0, body.length - tail.length), tail);
  return head + link(middle, options) + rest;
}

/** Closing brackets of the tail go back to what they close. */
function balance(middle: string, tail: string): [string, string] {
  for (const [open, close] of brackets) {
    const missing = occurrences(middle, open) - occurrences(middle, close);
    const moves = missing <= 0 ? 0 : Math.min(occurrences(middle, open), occurrences(tail, close));
    for (let move = 0; move < moves; move++) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return [middle, tail];
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

function link(text: string, options: UrlizeOptions): string {
  if (address.test(text)) {
    return anchor(/^https?:\/\//.test(text) ? text : `https://${text}`, shorten(text, options.limit), options);
  }
  if (text.startsWith('mailto:') && mailAddress.test(text.slice(7))) return `<a href="${text}">${text.slice(7)}</a>`;
  const isMail = !/^(?:www\.|@)|:/.test(text) && mailAddress.test(text);
  if (isMail) return `<a href="mailto:${text}">${text}</a>`;
  const hasScheme = options.schemes.some((scheme) => text !== scheme && text.startsWith(scheme));
  return hasScheme ? anchor(text, text, options) : text;
}

function anchor(href: string, shown: string, {relations, target}: UrlizeOptions): string {
  const names = [...new Set([...relations, 'noopener'])].filter((name) => name !== '').sort();
  const targetText = target === null || target === '' ? '' : ` target="${escapeText(target)}"`;
  return `<a href="${href}" rel="${escapeText(names.join(' '))}"${targetText}>${shown}</a>`;
}

function shorten(text: string, limit: number | null): string {
  return limit === null || codePointLength(text) <= limit ? text : `${substring(text, 0, limit)}...`;
}
