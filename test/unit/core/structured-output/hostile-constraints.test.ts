/** Constraints that were made to hurt: each ends in a refusal or a usable matcher, within seconds. */
import {describe, expect, it} from 'vitest';
import {ValidationError} from '../../../../src/core/errors.ts';
import {ConstraintCompiler} from '../../../../src/core/structured-output/compile-constraint.ts';
import {endTokenId, outputConstraint, smallVocabulary} from '../../../support/constrained-text.ts';
import {samplingParams} from '../../../support/sampling-params.ts';

type Kind = Parameters<typeof outputConstraint>[0]['kind'];

const maxSeconds = 20;
const numTokens = 30;

/** Follows a constraint for some tokens. @returns the refusal, or what is left in the end */
function run(kind: Kind, text: string): string {
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(smallVocabulary);
  try {
    const constraint = outputConstraint({kind, text});
    const holder = compiler.holderFor({...samplingParams({eosTokenId: endTokenId}), constraint});
    const tokenIds: number[] = [];
    while (tokenIds.length < numTokens) {
      const logits = new Float32Array(endTokenId + 1);
      holder.hold(logits, tokenIds);
      const tokenId = logits.findIndex((logit) => logit !== Number.NEGATIVE_INFINITY);
      expect(tokenId).not.toBe(-1);
      if (tokenId === endTokenId) return 'ended';
      tokenIds.push(tokenId);
    }
    return 'followed';
  } catch (error) {
    if (error instanceof ValidationError) return error.message;
    throw error;
  }
}

const defs = (count: number, schemaAt: (index: number) => object) =>
  Object.fromEntries(Array.from({length: count}, (_, index) => [`d${index}`, schemaAt(index)]));
const json = (schema: object): [Kind, string] => ['json', JSON.stringify(schema)];

const cases: Record<string, [Kind, string]> = {
  'groups 100,000 deep in a regex': ['regex', `${'('.repeat(100_000)}a${')'.repeat(100_000)}`],
  'groups 50,000 deep in GBNF': ['grammar', `root ::= ${'('.repeat(50_000)}"a"${')'.repeat(50_000)}`],
  'groups 50,000 deep in Lark': ['grammar', `start: ${'('.repeat(50_000)}"a"${')'.repeat(50_000)}`],
  'rules that begin with one another, 20,000 of them': [
    'grammar',
    `${Array.from({length: 20_000}, (_, index) => `r${index} ::= r${index + 1} | "x"`)
      .join('\n')
      .replace('r0 ', 'root ')}\nr20000 ::= "a"`,
  ],
  'a schema within itself': json({$ref: '#'}),
  'references in a circle': json({
    $defs: defs(3, (index) => ({$ref: `#/$defs/d${(index + 1) % 3}`})),
    $ref: '#/$defs/d0',
  }),
  'allOf in a circle': json({$defs: {a: {allOf: [{$ref: '#/$defs/a'}, {type: 'object'}]}}, $ref: '#/$defs/a'}),
  'not of not of itself': json({$defs: {a: {not: {not: {$ref: '#/$defs/a'}}}}, $ref: '#/$defs/a'}),
  'a chain of 20,000 references': json({
    $defs: {...defs(20_000, (index) => ({$ref: `#/$defs/d${index + 1}`})), d20000: {type: 'null'}},
    $ref: '#/$defs/d0',
  }),
  'twenty choices of two, all at once': json({
    allOf: Array.from({length: 20}, (_, index) => ({
      anyOf: [{required: [`a${index}`]}, {required: [`b${index}`]}],
    })),
  }),
  'a megabyte of properties': json({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({length: 12_000}, (_, index) => [`${index}`.repeat(8), {type: 'string'}]),
    ),
  }),
  'counts of counts': ['regex', '((((a{1,1000}){1,1000}){1,1000}){1,1000})b'],
  'counts beyond measure': ['regex', 'a{1,999999999}'],
  'stars of stars': ['regex', '(((a*)*)*)*b'],
  'a pattern that backtracking never ends': json({
    type: 'string',
    pattern: '^(a+)+$',
    enum: [`${'a'.repeat(40)}!`, 'aa'],
  }),
  'states without end': json({type: 'string', pattern: '(a|b)*a(a|b){30}', maxLength: 2000}),
  'a class of 20,000 characters': [
    'regex',
    `[${Array.from({length: 20_000}, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join('')}]`,
  ],
  'a class of 20,000 characters in GBNF': [
    'grammar',
    `root ::= [${Array.from({length: 20_000}, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join('')}]`,
  ],
  '100,000 characters of a regex': ['regex', 'ab'.repeat(50_000)],
  '100,000 empty lines in Lark': ['grammar', `${'\n'.repeat(100_000)}start: "a"`],
  '100,000 brackets in an expression of Lark': ['grammar', `start: /${'['.repeat(100_000)}`],
  'left recursion': ['grammar', 'root ::= root "a" | "b"'],
  'left recursion behind nothing': ['grammar', 'root ::= "x"? root "a" | "b"'],
  'nothing at all': ['grammar', 'root ::= [] "a"'],
  'surrogates in a class': ['grammar', 'root ::= [\\uD800-\\uDFFF]'],
  'a class over everything': ['grammar', 'root ::= [\\x00-\\U0010FFFF]+'],
  'names of prototypes': json({
    type: 'object',
    properties: JSON.parse('{"__proto__":{"type":"null"},"constructor":{"type":"null"}}'),
    required: ['__proto__', 'toString'],
  }),
  'half a pair of surrogates': json({enum: ['\ud800']}),
  'bounds beyond measure': json({type: 'number', minimum: -1e308, maximum: 1e308}),
  'bounds next to nothing': json({type: 'number', exclusiveMinimum: 0, maximum: 5e-324}),
  'a divisor of nothing': json({type: 'number', multipleOf: 5e-324}),
};

describe('hostile constraints', () => {
  it.each(Object.entries(cases))(
    '%s',
    (_, [kind, text]) => {
      const startedAt = performance.now();
      expect(run(kind, text)).toMatch(/^(ended|followed|Invalid structured outputs: )/);
      expect(performance.now() - startedAt).toBeLessThan(maxSeconds * 1000);
    },
    60_000,
  );

  it('never gives half a character', () => {
    expect(run('grammar', 'root ::= [\\uD800-\\uDFFF]')).toContain('no finite text');
  });
});
