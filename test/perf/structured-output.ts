/**
 * Measures constraints on purpose: `npx tsx test/perf/structured-output.ts`. The embedded model's vocabulary, random tokens
 * out of what each constraint leaves; CPU milliseconds to compile, for the first mask, and for each token of a second text
 * (median, largest). Aim: 0.5 ms a token once a constraint has been used.
 */
import type {OutputConstraint} from '../../src/core/sampling/output-constraint.ts';
import {ConstraintCompiler} from '../../src/core/structured-output/compile-constraint.ts';
import {checkConstraintCompiles} from '../../src/core/structured-output/request-constraint.ts';
import {vocabularyOf} from '../../src/core/structured-output/token-vocabulary.ts';
import {outputConstraint} from '../support/constrained-text.ts';
import {embeddedTokenizer} from '../support/embedded-model.ts';
import {samplingParams} from '../support/sampling-params.ts';

const json = (schema: object) => outputConstraint({kind: 'json', text: JSON.stringify(schema)});
const named = (count: number, value: object) =>
  Object.fromEntries(Array.from({length: count}, (_, index) => [`property_${index}`, value]));
const person = {
  type: 'object',
  properties: {
    name: {type: 'string', maxLength: 300},
    age: {type: 'integer', minimum: 0, maximum: 150},
    email: {type: 'string', format: 'email'},
    tags: {type: 'array', items: {type: 'string', minLength: 200, maxLength: 400}, minItems: 2, maxItems: 5},
  },
  required: ['name', 'age', 'email', 'tags'],
};
const nested = {
  type: 'object',
  properties: named(200, {type: 'object', properties: named(5, {type: ['string', 'null'], maxLength: 40})}),
  required: Object.keys(named(200, {})),
};

const cases: Record<string, OutputConstraint> = {
  'free string': json({type: 'string', minLength: 3000}),
  'string of at most 1000 characters': json({type: 'string', minLength: 900, maxLength: 1000}),
  'pattern and length': json({type: 'string', pattern: '^[A-Za-z ,.]*$', minLength: 500, maxLength: 800}),
  'any object': outputConstraint({kind: 'json_object', text: ''}),
  'person with lengths': json(person),
  '200 objects of 5 properties': json(nested),
  'enumeration of 5000': json({enum: Array.from({length: 5000}, (_, index) => `value ${index * 7919}`)}),
  'regular expression with counts': outputConstraint({kind: 'regex', text: '([a-z]{3,12} ){80,100}\\.'}),
};

const maxTokens = 600;
const vocabulary = vocabularyOf(await embeddedTokenizer());
const numTokens = vocabulary.ends.length;

function measured<T>(run: () => T): {value: T; ms: number} {
  const startedAt = process.cpuUsage();
  const value = run();
  const {user, system} = process.cpuUsage(startedAt);
  return {value, ms: (user + system) / 1000};
}

/** CPU milliseconds of each token of a random text. */
function writeText(compiler: ConstraintCompiler, constraint: OutputConstraint, seed: number): number[] {
  const params = samplingParams({eosTokenId: 0, constraint});
  const holder = compiler.holderFor({...params, constraint});
  const tokenIds: number[] = [];
  const times: number[] = [];
  let state = seed;
  while (tokenIds.length < maxTokens) {
    const logits = new Float32Array(numTokens);
    times.push(measured(() => holder.hold(logits, tokenIds)).ms);
    const allowed = [...logits.keys()].filter((id) => logits[id] === 0);
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const tokenId = allowed[state % allowed.length]!;
    if (tokenId === 0) break;
    tokenIds.push(tokenId);
  }
  return times;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

for (const [name, constraint] of Object.entries(cases)) {
  const check = measured(() => checkConstraintCompiles(constraint));
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(vocabulary);
  const first = writeText(compiler, constraint, 1);
  const second = writeText(compiler, constraint, 2);
  const figures = [
    `compile ${check.ms.toFixed(0)}`,
    `first mask ${first[0]!.toFixed(0)}, then median ${median(first.slice(1)).toFixed(2)}, most ${Math.max(...first.slice(1)).toFixed(0)}`,
    `second text median ${median(second).toFixed(2)}, mean ${(second.reduce((a, b) => a + b, 0) / second.length).toFixed(2)}, most ${Math.max(...second).toFixed(0)} (${second.length} tokens)`,
  ];
  process.stdout.write(`${name}: ${figures.join('; ')}\n`);
}
