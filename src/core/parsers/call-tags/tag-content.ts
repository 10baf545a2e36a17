/** Parts of structural tags in the terms of xgrammar, as data: what the spelling of a call is put together from. */

import type {JsonSchema} from '../output-parser.ts';

export type TagContent = Readonly<Record<string, unknown>> & {type: string};

export const literal = (value: string): TagContent => ({type: 'const_string', value});

export const matching = (pattern: string): TagContent => ({type: 'regex', pattern});

export const json = (schema: JsonSchema): TagContent => ({type: 'json_schema', json_schema: schema});

/** Arguments of a call: held to nothing else, they are still an object. */
export const jsonArguments = (schema: JsonSchema): TagContent => json(schema === true ? {type: 'object'} : schema);

export const sequence = (...elements: TagContent[]): TagContent => ({type: 'sequence', elements});

export const either = (...elements: TagContent[]): TagContent =>
  elements.length === 1 ? elements[0]! : {type: 'or', elements};

export const optional = (content: TagContent): TagContent => either(content, literal(''));

export const tag = (begin: string, content: TagContent, end: string): TagContent => ({
  type: 'tag',
  begin,
  content,
  end,
});

/** Free text between two texts; it goes as far as the first `end`. */
export const textBetween = (begin: string, end: string): TagContent => tag(begin, {type: 'any_text'}, end);

/** Any number of tags in any order. */
export function list(tags: readonly TagContent[], separator: string, rules: {atLeastOne: boolean; onlyOne: boolean}) {
  const {atLeastOne, onlyOne} = rules;
  return {type: 'tags_with_separator', tags, separator, at_least_one: atLeastOne, stop_after_first: onlyOne};
}
