/**
 * The calls of a request as a structural tag, in the markup of a format: what a model is held to when a call is demanded,
 * or when free text may only hold calls of the given functions.
 */

import type {ToolFormat} from '../format.ts';
import type {JsonSchema} from '../output-parser.ts';
import {type CallSpelling, spellingsOf} from './call-spellings.ts';
import {either, jsonArguments, list, optional, sequence, type TagContent, tag, textBetween} from './tag-content.ts';

type SpelledFormat = Pick<ToolFormat, 'names' | 'callSpelling'>;

function spellingsIn({names, callSpelling}: SpelledFormat, variables: CallRules['variables']): readonly CallSpelling[] {
  return callSpelling === undefined ? spellingsOf(names[0], variables) : [callSpelling];
}

/** True when calls can be demanded in the format's own markup. */
export function hasCallTag(format: SpelledFormat): boolean {
  return spellingsIn(format, {}).length > 0;
}

/** A function that may be called; true as the schema allows any JSON value. */
export interface CallableFunction {
  name: string;
  schema: JsonSchema;
}

export interface CallRules {
  /** False: text without a call is allowed, too. */
  mustCall: boolean;
  onlyOne: boolean;
  /** A thought may stand in front of demanded calls. */
  mayThink: boolean;
  /** Keyword arguments of the chat template; some choose the spelling. */
  variables: Readonly<Record<string, unknown>>;
}

/** The structural tag, as data; null for a format that cannot be held to its markup. */
export function callsAsTag(
  format: SpelledFormat,
  functions: readonly CallableFunction[],
  rules: CallRules,
): object | null {
  const spellings = spellingsIn(format, rules.variables);
  if (spellings.length === 0) return null;
  const content = rules.mustCall ? demandedCalls(spellings, functions, rules) : freeText(spellings, functions, rules);
  return {type: 'structural_tag', format: content};
}

function demandedCalls(
  spellings: readonly CallSpelling[],
  functions: readonly CallableFunction[],
  {onlyOne, mayThink}: CallRules,
): TagContent {
  const calls = either(...spellings.map((spelling) => allCalls(spelling, functions, onlyOne)));
  const thought = spellings[0]?.thought;
  return mayThink && thought !== undefined ? sequence(optional(textBetween(...thought)), calls) : calls;
}

function allCalls(spelling: CallSpelling, functions: readonly CallableFunction[], onlyOne: boolean): TagContent {
  const calls = list(oneOfEach(spelling, functions), spelling.separator, {atLeastOne: true, onlyOne});
  return spelling.section === undefined ? calls : tag(spelling.section[0], calls, spelling.section[1]);
}

function oneOfEach(spelling: CallSpelling, functions: readonly CallableFunction[]): TagContent[] {
  const {begin, content = jsonArguments, end} = spelling;
  return functions.map(({name, schema}) => tag(begin(name), content(schema, name), end));
}

/** Free text, in which the trigger begins a call. */
function freeText(
  spellings: readonly CallSpelling[],
  functions: readonly CallableFunction[],
  {onlyOne}: CallRules,
): TagContent {
  const tags = spellings.flatMap((spelling) =>
    spelling.section === undefined ? oneOfEach(spelling, functions) : [allCalls(spelling, functions, onlyOne)],
  );
  const triggers = [...new Set(spellings.map(({trigger}) => trigger))];
  return {type: 'triggered_tags', triggers, tags, at_least_one: false, stop_after_first: onlyOne};
}
