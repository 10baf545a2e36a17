/** Filters for HTML and URLs. */
import {type Builtin, type BuiltinContext, builtin} from '../builtin.ts';
import {stripTags} from '../html-text.ts';
import {escapeMarkup} from '../markup.ts';
import {Markup, textOf, Undefined} from '../objects.ts';
import {PythonError, typeError, valueError} from '../python-error.ts';
import {isIterable, isTrue, iterate, toIndex, toList} from '../sequences.ts';
import {repr, str} from '../text.ts';
import {urlize} from '../urlize.ts';
import {PyDict, type Value} from '../values.ts';

function escapeFilter(): Builtin {
  return builtin('escape', ['s'], (_context, value) => escapeMarkup(value!), {positionalOnly: 1});
}

const unsafeInAttributeNames = /[\t-\r />=]/;

function attributes(context: BuiltinContext, value: Value, autospace: Value): Value {
  if (value instanceof Undefined) throw value.error();
  if (!(value instanceof PyDict)) throw new PythonError('AttributeError', 'the filter xmlattr needs a mapping');
  const shown = [...value.entries()].filter(([, entry]) => entry !== null && !(entry instanceof Undefined));
  const text = shown.map(([key, entry]) => attributeText(key, entry)).join(' ');
  const result = isTrue(autospace) && text !== '' ? ` ${text}` : text;
  return context.autoescape ? new Markup(result) : result;
}

function attributeText(key: Value, value: Value): string {
  const name = textOf(key);
  if (name === undefined) throw typeError('expected string or bytes-like object');
  if (unsafeInAttributeNames.test(name)) throw valueError(`Invalid character in attribute name: ${repr(key)}`);
  return `${escapeMarkup(key).text}="${escapeMarkup(value).text}"`;
}

function quote(value: Value, forQuery: boolean): string {
  const quoted = encodeURIComponent(str(value)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return forQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
}

function toPair(value: Value): Value[] {
  const pair = toList(value);
  if (pair.length > 2) throw valueError('too many values to unpack (expected 2)');
  if (pair.length < 2) throw valueError(`not enough values to unpack (expected 2, got ${pair.length})`);
  return pair;
}

function urlEncode(value: Value): string {
  if (textOf(value) !== undefined || !isIterable(value)) return quote(value, false);
  const pairs = value instanceof PyDict ? [...value.entries()] : [...iterate(value)].map(toPair);
  return pairs.map((pair) => pair.map((part) => quote(part, true)).join('=')).join('&');
}

export const htmlFilters: Readonly<Record<string, Builtin>> = {
  escape: escapeFilter(),
  e: escapeFilter(),
  forceescape: builtin('do_forceescape', ['value'], (_context, value) => escapeMarkup(str(value!))),
  safe: builtin('do_mark_safe', ['value'], (_context, value) => new Markup(str(value!))),
  striptags: builtin('do_striptags', ['value'], (_context, value) => stripTags(str(value!))),
  xmlattr: builtin(
    'do_xmlattr',
    ['d', ['autospace', true]],
    (context, value, autospace) => attributes(context, value!, autospace!),
    {hidden: 1},
  ),
  urlencode: builtin('do_urlencode', ['value'], (_context, value) => urlEncode(value!)),
  urlize: builtin(
    'do_urlize',
    ['value', ['trim_url_limit', null], ['nofollow', false], ['target', null], ['rel', null], ['extra_schemes', null]],
    (context, value, limit, nofollow, target, rel, schemes) => {
      const text = urlize(escapeMarkup(value!).text, {
        limit: limit === null ? null : toIndex(limit!),
        relations: [...(rel === null ? [] : str(rel!).split(/\s+/)), ...(isTrue(nofollow!) ? ['nofollow'] : [])],
        target: target === null ? null : str(target!),
        schemes: schemes === null ? [] : toList(schemes!).map(str),
      });
      return context.autoescape ? new Markup(text) : text;
    },
    {hidden: 1},
  ),
};
