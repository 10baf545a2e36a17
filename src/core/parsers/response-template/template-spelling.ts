/**
 * How a checkpoint that describes its answers spells calls, for grammars that hold a model to them: an opener with the name
 * of the function in it, and arguments as tagged text or as JSON. Freer descriptions cannot be held to.
 */

import type {CallSpelling} from '../call-tags/call-spellings.ts';
import {taggedParameters} from '../call-tags/tagged-parameters.ts';
import {tagParts} from './call-content.ts';
import {checkResponseTemplate} from './formats.ts';
import {type Atom, atomsOf} from './pattern.ts';
import {fieldNamed, type TemplateField} from './template.ts';

/** Null when the description is too free. @param written the metadata of the checkpoint @throws ValidationError */
export function templateSpelling(written: unknown): CallSpelling | null {
  const template = checkResponseTemplate(written);
  const field = fieldNamed(template, 'tool_calls');
  const begin = field && opening(field);
  const content = field && contentOf(field);
  const end = field?.closers[0];
  if (!begin || content === null || end === undefined) return null;
  const thought = thoughtMarks(fieldNamed(template, 'thinking'));
  return {begin, ...content, end, separator: '', trigger: field!.openers[0]!.prefix, ...(thought && {thought})};
}

/** The opener with a name in the place of its only variable part. */
function opening({openers}: TemplateField): CallSpelling['begin'] | null {
  const source = openers.length === 1 ? openers[0]?.whole?.source.slice(1, -1) : undefined;
  if (source === undefined) return null;
  const atoms = atomsOf(source);
  const isName = ({literal}: Atom) => literal === undefined;
  const names = atoms.filter(isName);
  if (names.length !== 1 || !names[0]!.source.startsWith('(?<')) return null;
  return (name) => atoms.map((atom) => (isName(atom) ? name : atom.literal)).join('');
}

function contentOf({content, contentArgs}: TemplateField): Pick<CallSpelling, 'content'> | null {
  if (content === 'json') return contentArgs.string_delims === undefined ? {} : null;
  const pattern = contentArgs.tag_pattern;
  if (content !== 'xml-inline' || pattern === undefined) return null;
  const {keyOpen, keyClose, valueClose} = tagParts(pattern);
  return {content: taggedParameters({open: (key) => [keyOpen + key + keyClose], close: valueClose, joint: ''})};
}

function thoughtMarks(field: TemplateField | undefined): CallSpelling['thought'] {
  const open = field?.openers.find(({suffix}) => suffix === undefined)?.prefix;
  const close = field?.closers[0];
  return open === undefined || close === undefined ? undefined : [open, close];
}
