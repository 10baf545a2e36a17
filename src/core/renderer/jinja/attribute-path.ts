/** The `attribute` argument of filters: `'a.0.b'`, walked with the rules of `x['a']`. */
import {getItem} from './attributes.ts';
import {textPredicates} from './character-classes.ts';
import {textOf, Undefined} from './objects.ts';
import type {Value} from './values.ts';

export type Getter = (item: Value) => Value;

/** Lower case for texts, as comparisons without case ask; other values stay. */
export function ignoreCase(value: Value): Value {
  return textOf(value)?.toLowerCase() ?? value;
}

/** @param attribute None = the item itself */
export function attributeGetter(attribute: Value, options: {postprocess?: Getter; standard?: Value} = {}): Getter {
  const parts = pathParts(attribute);
  const {postprocess = (value) => value, standard = null} = options;
  return (item) => {
    let value = item;
    for (const part of parts) {
      value = getItem(value, part);
      if (standard !== null && value instanceof Undefined) value = standard;
    }
    return postprocess(value);
  };
}

/** Several paths, separated by commas; gives the list of their values. */
export function multiAttributeGetter(attribute: Value, postprocess: Getter): Getter {
  const text = textOf(attribute);
  const paths: Value[] = text === undefined ? [attribute] : text.split(',');
  const getters = paths.map((path) => attributeGetter(path, {postprocess}));
  return (item) => getters.map((getter) => getter(item));
}

function pathParts(attribute: Value): Value[] {
  if (attribute === null) return [];
  const text = textOf(attribute);
  if (text === undefined) return [attribute];
  return text.split('.').map((part) => (textPredicates.isdigit!(part) ? Number(part) : part));
}
