/** From a constraint of any kind to its grammar. Pure: the same constraint gives the same grammar on both sides of the border. */
import {ValidationError} from '../errors.ts';
import type {OutputConstraint} from '../sampling/output-constraint.ts';
import {JsonSyntaxError} from '../util/parse-json.ts';
import {type CodePointRanges, charactersOf, without} from './code-point-ranges.ts';
import {ebnfGrammar} from './ebnf-grammar.ts';
import {choice, type Grammar, GrammarBuilder, type GrammarNode, text} from './grammar.ts';
import {
  type JsonSchemaOptions,
  jsonObjectGrammar,
  jsonSchemaGrammar,
  readSchemaText,
} from './json-schema/json-schema-grammar.ts';
import {anyWhiteSpace, layoutWith, oneLine} from './json-text.ts';
import {larkGrammar} from './lark-grammar.ts';
import {regexGrammar} from './regex-grammar.ts';
import {structuralTagGrammar} from './structural-tag-grammar.ts';

/** What may be set between the elements of JSON. */
const jsonSpaces = charactersOf(' \t\n\r');

/** @throws ValidationError with the place of what cannot be used */
export function constraintGrammar(constraint: OutputConstraint): Grammar {
  try {
    return grammarOf(constraint);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ValidationError(`Invalid structured outputs: ${error.message}`);
    throw error;
  }
}

function grammarOf(constraint: OutputConstraint): Grammar {
  const {kind, text: source} = constraint;
  switch (kind) {
    case 'json':
      return jsonSchemaGrammar(readSchemaText(source), jsonOptions(constraint));
    case 'json_object':
      return jsonObjectGrammar(jsonOptions(constraint).layout);
    case 'regex':
      return alone(regexGrammar(source));
    case 'choice':
      return alone(choice(...(readSchemaText(source) as string[]).map(text)));
    case 'grammar':
      // GBNF defines rules by `::=`, Lark by a colon.
      return source.includes('::=') ? ebnfGrammar(source) : larkGrammar(source);
    case 'structural_tag':
      return structuralTagGrammar(source, jsonOptions(constraint));
  }
}

const alone = (node: GrammarNode): Grammar => new GrammarBuilder().build(node);

function jsonOptions({
  disablesAnyWhitespace,
  whitespacePattern,
  disablesAdditionalProperties,
}: OutputConstraint): JsonSchemaOptions {
  const layout = disablesAnyWhitespace
    ? oneLine
    : whitespacePattern === null
      ? anyWhiteSpace
      : layoutWith(readSpace(whitespacePattern));
  return {layout, disablesAdditionalProperties};
}

/** @throws ValidationError when the pattern matches something that JSON does not take for white space */
function readSpace(pattern: string): GrammarNode {
  const refuseForeign = (ranges: CodePointRanges): GrammarNode => {
    if (without(ranges, jsonSpaces).length === 0) return {type: 'class', ranges};
    throw new ValidationError(
      'Invalid structured outputs: whitespace_pattern may match spaces, tabs and line ends only',
    );
  };
  return regexGrammar(pattern, {place: 'whitespace_pattern', write: refuseForeign});
}
