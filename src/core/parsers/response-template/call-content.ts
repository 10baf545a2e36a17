/**
 * How the calls of a template are read: which of our argument readers takes the content between opener and closer, and
 * where name and arguments come from, as the field's `transform` says.
 */

import type {CreateReader} from '../argument-reader.ts';
import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import {jsonObject} from '../argument-readers/json-object.ts';
import {keyValues} from '../argument-readers/key-values.ts';
import {lineValues} from '../argument-readers/line-values.ts';
import {type ParameterTags, parameterTags} from '../argument-readers/parameter-tags.ts';
import {wholeCall} from '../argument-readers/whole-call.ts';
import {isJsonObject, isRecord} from '../argument-readers/written-json.ts';
import {type Atom, atomsOf} from './pattern.ts';
import {invalid, type TemplateField} from './template.ts';

export interface CallContent {
  create: CreateReader;
  /** What the content may begin with; undefined: anything. */
  starts: readonly string[] | undefined;
  /** Named group of the opener that holds the function's name; undefined: the name stands in the content. */
  nameGroup: string | undefined;
  /** A call is told as soon as its opener is there, not when its content has proved right. */
  countsAtOnce: boolean;
}

interface Envelope {
  nameKeys: readonly string[];
  argumentKeys: readonly string[];
}

/** What `transform` says where name and arguments come from. */
interface Placeholders {
  name: string | undefined;
  argumentsText: string | undefined;
}

const COMMON: Envelope = {nameKeys: ['name'], argumentKeys: ['arguments', 'parameters']};
const PLACEHOLDER = /^\{(?:content[.[])?(\w+)\]?\}$/;

/** @throws ValidationError for content that cannot be read */
export function callContent(field: TemplateField): CallContent {
  const {name, argumentsText} = transformed(field.transform);
  const nameGroup = groupOf(field, name);
  switch (field.content) {
    case 'json':
      return jsonContent(field, nameGroup, {name, argumentsText});
    case 'xml-inline':
      return {create: tagReader(field), starts: undefined, nameGroup: required(nameGroup), countsAtOnce: true};
    case 'kv-lines':
      return {create: lineReader(field), starts: undefined, nameGroup: required(nameGroup), countsAtOnce: true};
    default:
      throw invalid(`tool_calls.content '${field.content}' holds no arguments`);
  }
}

function required(nameGroup: string | undefined): string {
  if (nameGroup === undefined)
    throw invalid('tool_calls.open_pattern needs a named group for the name of the function');
  return nameGroup;
}

/** The placeholders of `{"function": {"name": .., "arguments": ..}}`. */
function transformed(transform: unknown): Placeholders {
  const inner = isRecord(transform) && 'function' in transform ? transform.function : transform;
  if (!isRecord(inner)) return {name: undefined, argumentsText: undefined};
  return {name: stringOrNone(inner.name), argumentsText: stringOrNone(inner.arguments)};
}

function stringOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function groupOf(field: TemplateField, name: string | undefined): string | undefined {
  const group = PLACEHOLDER.exec(name ?? '{name}')?.[1];
  const isGroup = field.openers.some(({whole}) => whole?.source.includes(`(?<${group}>`));
  return isGroup ? group : undefined;
}

function jsonContent(
  field: TemplateField,
  nameGroup: string | undefined,
  {name, argumentsText}: Placeholders,
): CallContent {
  const quote = field.contentArgs.string_delims?.[0];
  if (quote !== undefined && nameGroup !== undefined) return quotedContent(quote, nameGroup);
  const closeMarkers = field.closers;
  const isObject = ({json}: {json: string}): boolean => json === '' || isJsonObject(json);
  const read =
    nameGroup === undefined
      ? jsonEnvelope({...envelopeOf(name, argumentsText), closeMarkers})
      : jsonObject({closeMarkers});
  return {
    create: wholeCall(read, {isStrict: true, accepts: isObject}),
    starts: nameGroup === undefined ? ['{', '['] : ['{'],
    nameGroup,
    countsAtOnce: false,
  };
}

function quotedContent([quote, end]: readonly [string, string], nameGroup: string): CallContent {
  if (quote !== end) throw invalid(`string_delims must be the same at both ends, not '${quote}' and '${end}'`);
  return {create: keyValues({quote, beginsWithBrace: true}), starts: ['{'], nameGroup, countsAtOnce: true};
}

function envelopeOf(name: string | undefined, argumentsText: string | undefined): Envelope {
  const nameKey = PLACEHOLDER.exec(name ?? '')?.[1];
  const argumentKey = PLACEHOLDER.exec(argumentsText ?? '')?.[1];
  if (nameKey === undefined || argumentKey === undefined) return COMMON;
  return {nameKeys: [nameKey], argumentKeys: [argumentKey]};
}

function tagReader(field: TemplateField): CreateReader {
  const {tag_pattern: pattern, value_parser: values} = field.contentArgs;
  if (pattern === undefined) throw invalid('xml-inline needs content_args.tag_pattern');
  const {trimsValue, ...tags} = tagParts(pattern);
  const stripsText = values?.name === 'text' && values.args?.strip !== false;
  return parameterTags({
    ...tags,
    ends: [...field.closers, ...field.openers.map(({prefix}) => prefix)],
    ...(values?.name === 'json' && {undeclared: 'json' as const}),
    ...((trimsValue || stripsText) && {trims: 'blanks' as const}),
    dropsUnclosed: true,
    dropsCut: true,
  });
}

type TagParts = Pick<ParameterTags, 'keyOpen' | 'keyClose' | 'valueClose'> & {trimsValue: boolean};

/** Text around the groups `key` and `value`. */
export function tagParts(pattern: string): TagParts {
  const atoms = readAtoms(pattern);
  const key = atoms.findIndex(({source}) => source.startsWith('(?<key>'));
  const value = atoms.findIndex(({source}) => source.startsWith('(?<value>'));
  if (key <= 0 || value <= key) throw invalid(`tag_pattern '${pattern}' needs text, then the groups key and value`);
  const parts = [atoms.slice(0, key), atoms.slice(key + 1, value), atoms.slice(value + 1)];
  const [keyOpen = '', keyClose = '', valueClose = ''] = parts.map((part) => fixedText(part, pattern));
  if ([keyOpen, keyClose, valueClose].includes('')) throw invalid(`tag_pattern '${pattern}' needs text around values`);
  const trimsValue = [value - 1, value + 1].some((index) => isBlanks(atoms[index]));
  return {keyOpen, keyClose, valueClose, trimsValue};
}

function readAtoms(pattern: string): Atom[] {
  try {
    return atomsOf(pattern);
  } catch (error) {
    throw invalid(`tag_pattern '${pattern}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isBlanks(atom: Atom | undefined): boolean {
  return atom !== undefined && /^\\s[*+?]/.test(atom.source);
}

function fixedText(atoms: readonly Atom[], pattern: string): string {
  const solid = atoms.filter((atom) => !isBlanks(atom));
  if (solid.some(({literal}) => literal === undefined)) throw invalid(`tag_pattern '${pattern}' is too free`);
  return solid.map(({literal}) => literal).join('');
}

function lineReader(field: TemplateField): CreateReader {
  const {line_sep: lineEnd = '\n', kv_sep: separator = ':', value_parser: values} = field.contentArgs;
  const ends = [...field.closers, ...field.openers.map(({prefix}) => prefix)];
  return lineValues({lineEnd, separator, ends, isJson: values?.name === 'json'});
}
