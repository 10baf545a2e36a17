/** Filters that make text of text. What is no text becomes one first, as in jinja2. */
import {binary} from '../arithmetic.ts';
import {callValue, getAttribute} from '../attributes.ts';
import {type Builtin, builtin} from '../builtin.ts';
import {capitalize} from '../letter-case.ts';
import {escapeMarkup, likeSource, softText} from '../markup.ts';
import {Markup, textOf, Undefined} from '../objects.ts';
import {percentFormat} from '../percent-format.ts';
import {prettyPrint} from '../pretty-print.ts';
import {PythonError, typeError} from '../python-error.ts';
import {isTrue, itemAt, length, slice, toIndex} from '../sequences.ts';
import {align, replaceText, splitLines} from '../string-methods.ts';
import {str} from '../text.ts';
import {wrapText} from '../text-wrap.ts';
import {type CallArguments, PyDict, PyTuple, positionalArguments, typeName, type Value} from '../values.ts';

/** Applies a function of plain text; escaped text stays escaped. */
function onText(value: Value, change: (text: string) => string): Value {
  const source = softText(value);
  return likeSource(source, change(str(source)));
}

function callMethod(value: Value, name: string, ...values: Value[]): Value {
  return callValue(getAttribute(value, name), positionalArguments(...values));
}

/** White space and brackets begin a word. */
const wordBeginning = /([-\s\x1c-\x1f\x85({[<]+)/u;

function title(text: string): string {
  const words = text.split(wordBeginning).filter((word) => word !== '');
  return words.map((word) => upperFirst(word)).join('');
}

function upperFirst(word: string): string {
  const first = String.fromCodePoint(word.codePointAt(0)!);
  return first.toUpperCase() + word.slice(first.length).toLowerCase();
}

function replace(autoescape: boolean, value: Value, old: Value, replacement: Value, count: Value): Value {
  const limit = count === null ? -1 : toIndex(count);
  if (!autoescape) return replaceText(str(value), str(old), str(replacement), limit);
  const escapes = old instanceof Markup || (replacement instanceof Markup && !(value instanceof Markup));
  return callMethod(
    escapes ? escapeMarkup(value) : softText(value),
    'replace',
    softText(old),
    softText(replacement),
    limit,
  );
}

function indent(value: Value, width: Value, first: Value, blank: Value): Value {
  const indention = textOf(width) ?? ' '.repeat(Math.max(0, toIndex(width)));
  const text = textOf(binary('+', value, value instanceof Markup ? new Markup('\n') : '\n'));
  if (text === undefined) throw typeError(`can only concatenate ${typeName(value)} (not "str") to ${typeName(value)}`);
  const [head = '', ...lines] = splitLines(text);
  const rest = lines.map((line) => (line === '' && !isTrue(blank) ? line : indention + line));
  const result = (isTrue(first) ? indention : '') + [head, ...rest].join('\n');
  return value instanceof Markup ? new Markup(result) : result;
}

function truncate(value: Value, size: Value, killWords: Value, end: Value, leeway: Value): Value {
  const [limit, tolerance] = [toIndex(size), leeway === null ? 5 : toIndex(leeway)];
  const kept = limit - length(end);
  if (kept < 0) throw new PythonError('TemplateRuntimeError', `expected length >= ${length(end)}, got ${limit}`);
  if (tolerance < 0) throw new PythonError('TemplateRuntimeError', `expected leeway >= 0, got ${tolerance}`);
  if (length(value) <= limit + tolerance) return value;
  const head = slice(value, null, kept, null);
  return binary('+', isTrue(killWords) ? head : itemAt(callMethod(head, 'rsplit', ' ', 1), 0)!, end);
}

function format(value: Value, {positional, keyword}: CallArguments): Value {
  if (positional.length > 0 && keyword.size > 0) {
    throw new PythonError('FilterArgumentError', "can't handle positional and keyword arguments at the same time");
  }
  return percentFormat(softText(value), keyword.size > 0 ? PyDict.from(keyword) : new PyTuple(positional));
}

function wordWrap(value: Value, width: Value, breaksWords: Value, separator: Value, breaksHyphens: Value): Value {
  const glue = separator === null ? '\n' : str(separator);
  const options = {width: toIndex(width), breaksLongWords: isTrue(breaksWords), breaksOnHyphens: isTrue(breaksHyphens)};
  const text = textOf(value);
  if (text === undefined) callMethod(value, 'splitlines');
  return splitLines(text!)
    .map((line) => wrapText(line, options).join(glue))
    .join(glue);
}

export const textFilters: Readonly<Record<string, Builtin>> = {
  upper: builtin('do_upper', ['s'], (_context, value) => onText(value!, (text) => text.toUpperCase())),
  lower: builtin('do_lower', ['s'], (_context, value) => onText(value!, (text) => text.toLowerCase())),
  capitalize: builtin('do_capitalize', ['s'], (_context, value) => onText(value!, capitalize)),
  title: builtin('do_title', ['s'], (_context, value) => title(str(value!))),
  trim: builtin('do_trim', ['value', ['chars', null]], (_context, value, characters) =>
    callMethod(softText(value!), 'strip', characters!),
  ),
  string: builtin('soft_str', ['s'], (_context, value) => softText(value!), {positionalOnly: 1}),
  center: builtin('do_center', ['value', ['width', 80]], (_context, value, width) =>
    onText(value!, (text) => align(text, toIndex(width!), ' ', 'center')),
  ),
  replace: builtin(
    'do_replace',
    ['s', 'old', 'new', ['count', null]],
    (context, value, old, replacement, count) => replace(context.autoescape, value!, old!, replacement!, count!),
    {hidden: 1},
  ),
  indent: builtin(
    'do_indent',
    ['s', ['width', 4], ['first', false], ['blank', false]],
    (_context, value, width, first, blank) => indent(value!, width!, first!, blank!),
  ),
  truncate: builtin(
    'do_truncate',
    ['s', ['length', 255], ['killwords', false], ['end', '...'], ['leeway', null]],
    (_context, value, size, killWords, end, leeway) => truncate(value!, size!, killWords!, end!, leeway!),
    {hidden: 1},
  ),
  wordcount: builtin('do_wordcount', ['s'], (_context, value) => str(value!).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  wordwrap: builtin(
    'do_wordwrap',
    ['s', ['width', 79], ['break_long_words', true], ['wrapstring', null], ['break_on_hyphens', true]],
    (_context, value, width, words, separator, hyphens) => wordWrap(value!, width!, words!, separator!, hyphens!),
    {hidden: 1},
  ),
  format: {
    name: 'do_format',
    call: (_context, {positional: [value = '', ...rest], keyword}) => format(value, {positional: rest, keyword}),
  },
  pprint: builtin('do_pprint', ['value'], (_context, value) => prettyPrint(value!)),
  default: defaultFilter(),
  d: defaultFilter(),
};

function defaultFilter(): Builtin {
  return builtin(
    'do_default',
    ['value', ['default_value', ''], ['boolean', false]],
    (_context, value, standard, boolean) =>
      value instanceof Undefined || (isTrue(boolean!) && !isTrue(value!)) ? standard! : value!,
  );
}
