/** Whatever is picked from what a constraint leaves, a finished answer satisfies it. Judged by ajv, RegExp and JSON itself. */
import {Ajv2020} from 'ajv/dist/2020.js';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {ValidationError} from '../../src/core/errors.ts';
import {constrainedText, outputConstraint} from '../support/constrained-text.ts';

type Schema = Record<string, unknown>;

const ajv = new Ajv2020({strict: false, validateFormats: false});
const name = fc.constantFrom('a', 'name', 'x y', 'é', 'a"b', 'id', 'ab');
const bound = fc.oneof(
  fc.integer({min: -300, max: 300}),
  fc.integer({min: -5000, max: 5000}).map((n) => n / 100),
);
const count = fc.nat({max: 4});
/** A property of this name written out would make a promise of its object, says the linter. */
const thenKeyword = 'then';

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.constantFrom<Schema>({type: 'null'}, {type: 'boolean'}, {type: 'string'}, {type: 'integer'}, {type: 'number'}),
  fc.record({min: count, more: count}).map(({min, more}) => ({type: 'string', minLength: min, maxLength: min + more})),
  fc
    .constantFrom('^a+b?$', 'x', '^[^"]{2}$', '^\\d{2,3}\\s', '"|\\\\$', '^(é|a){2}')
    .map((pattern) => ({type: 'string', pattern})),
  fc.tuple(bound, bound, fc.boolean()).map(([a, b, isOpen]) => ({
    type: 'number',
    minimum: Math.min(a, b),
    ...(isOpen ? {} : {maximum: Math.max(a, b)}),
  })),
  fc.tuple(bound, fc.nat({max: 90}), fc.boolean()).map(([low, width, isExclusive]) => ({
    type: 'integer',
    [isExclusive ? 'exclusiveMinimum' : 'minimum']: low,
    maximum: low + width + 2,
  })),
  fc.integer({min: 1, max: 40}).map((multipleOf) => ({type: 'integer', multipleOf})),
  fc.uniqueArray(fc.jsonValue({maxDepth: 1}), {minLength: 1, maxLength: 3}).map((values) => ({enum: values})),
  fc.constantFrom<Schema>({type: ['string', 'null']}, {const: {a: [1, 'é"']}}, {}),
  fc.tuple(fc.constantFrom('^a+b?$', 'x', '^\\d{2}', '(é|a)$'), count, count).map(([pattern, min, more]) => ({
    type: 'string',
    pattern,
    minLength: min,
    maxLength: min + more + 2,
  })),
  fc.constantFrom('a', '^x', '\\d$', '^$').map((pattern) => ({type: 'string', not: {pattern}})),
  fc
    .tuple(fc.integer({min: 2, max: 9}), bound)
    .map(([multipleOf, minimum]) => ({type: 'integer', multipleOf, minimum})),
  fc.uniqueArray(fc.constantFrom('a', 'b', 1, 2, 5, null, true), {minLength: 1}).map((values) => ({
    type: ['string', 'integer', 'boolean'],
    not: {enum: values},
  })),
  fc.constantFrom<Schema>({not: {type: ['object', 'array']}}, {type: 'number', not: {minimum: 3}}),
);

const {schema} = fc.letrec<{schema: Schema}>((tie) => ({
  schema: fc.oneof(
    {maxDepth: 2, depthSize: 'small'},
    scalar,
    objectSchema(tie('schema')),
    arraySchema(tie('schema')),
    combined(tie('schema')),
  ),
}));

function objectSchema(inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  const named = fc.record({
    properties: fc.dictionary(name, inner, {maxKeys: 4}),
    required: fc.uniqueArray(name, {maxLength: 3}),
    additionalProperties: fc.oneof(fc.constant(undefined), fc.boolean(), inner),
  });
  return fc.oneof(
    named.map((fields) => withoutUndefined({type: 'object', ...fields})),
    inner.map((value) => ({type: 'object', additionalProperties: value, minProperties: 1, maxProperties: 2})),
    inner.map((value) => ({type: 'object', patternProperties: {'^x': value}, additionalProperties: false})),
    inner.map((value) => ({type: 'object', propertyNames: {pattern: '^[a-c]+$'}, additionalProperties: value})),
    fc.tuple(inner, inner, inner, fc.boolean()).map(([a, b, c, isOpen]) => ({
      type: 'object',
      properties: {ab: a, id: b},
      patternProperties: {'^a': b, d$: c},
      additionalProperties: isOpen,
      propertyNames: {maxLength: 4},
    })),
    fc
      .record({properties: fc.dictionary(name, inner, {minKeys: 2, maxKeys: 4}), min: count, more: count})
      .map(({properties, min, more}) => ({
        type: 'object',
        properties,
        minProperties: Math.min(min, Object.keys(properties).length),
        maxProperties: min + more,
      })),
    inner.map((value) => ({type: 'object', propertyNames: {enum: ['p', 'q']}, additionalProperties: value})),
    fc.tuple(name, name, inner).map(([a, b, value]) => ({
      type: 'object',
      properties: Object.fromEntries([a, b, 'z'].map((key) => [key, value])),
      dependentRequired: {[a]: [b]},
      dependentSchemas: {z: {required: [a]}},
    })),
  );
}

function arraySchema(inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.oneof(
    fc
      .record({items: inner, min: count, more: count})
      .map(({items, min, more}) => ({type: 'array', items, minItems: min, maxItems: min + more})),
    fc
      .record({prefixItems: fc.array(inner, {minLength: 1, maxLength: 3}), items: fc.oneof(fc.constant(false), inner)})
      .map((fields) => ({type: 'array', ...fields})),
    fc
      .record({
        contains: fc.oneof(inner, scalar),
        minContains: fc.nat({max: 2}),
        more: count,
        maxItems: fc.nat({max: 6}),
      })
      .map(({contains, minContains, more, maxItems}) => ({
        type: 'array',
        items: {type: ['integer', 'string', 'null', 'array']},
        contains,
        minContains,
        ...(more > 2 ? {} : {maxContains: minContains + more}),
        maxItems: maxItems + minContains,
      })),
    fc
      .uniqueArray(fc.constantFrom<unknown>('a', 1, null, true, [1], {b: 2}), {minLength: 1})
      .chain((values) => fc.nat({max: values.length}).map((minItems) => ({enum: values, minItems})))
      .map(({enum: values, minItems}) => ({type: 'array', items: {enum: values}, uniqueItems: true, minItems})),
  );
}

function combined(inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.oneof(
    fc.array(inner, {minLength: 1, maxLength: 3}).map((anyOf) => ({anyOf})),
    inner.map((value) => ({
      oneOf: [
        {type: 'object', properties: {kind: {const: 'a'}, value}, required: ['kind']},
        {type: 'object', properties: {kind: {const: 'b'}}, required: ['kind']},
      ],
    })),
    inner.map((value) => ({
      $defs: {node: value},
      allOf: [
        {type: 'object', properties: {a: value}},
        {type: 'object', properties: {b: {type: 'null'}}, required: ['b']},
      ],
    })),
    fc.array(fc.oneof(inner, scalar), {minLength: 1, maxLength: 3}).map((oneOf) => ({oneOf})),
    fc.tuple(scalar, scalar, scalar).map(([a, b, c]) => ({if: a, [thenKeyword]: b, else: c})),
    fc.tuple(inner, inner).map(([a, b]) => ({allOf: [a, b]})),
    fc.tuple(inner, scalar).map(([a, b]) => ({allOf: [a], not: b})),
    fc.tuple(inner, inner, fc.boolean()).map(([a, b, isClosed]) => ({
      type: 'object',
      properties: {kind: {enum: ['a', 'b']}, x: a, y: b},
      required: ['kind'],
      if: {properties: {kind: {const: 'a'}}},
      [thenKeyword]: {required: ['x'], properties: {y: false}},
      else: {required: ['y']},
      additionalProperties: !isClosed,
    })),
  );
}

const withoutUndefined = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const layouts = fc.record({
  disablesAnyWhitespace: fc.boolean(),
  whitespacePattern: fc.constantFrom(null, ' ?', '[ \\n]{0,2}'),
});

/** Random numbers that fast-check can repeat. */
const randomness = fc.integer().map((seed) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
});

/** What is said of schemas that no value satisfies, or none that could be told. */
const unsatisfiable = [
  /is not allowed$/,
  /: no (value|finite text|type)/,
  /leave no (number|text)$/,
  /cannot have/,
  /is below/,
  /there are no \d+ different items/,
  /next to "additionalProperties" of another part/,
  /could come twice/,
  /several rules of "contains"/,
  /is supported for items that are an enumeration only/,
];

/** Schemas that no value satisfies are refused; all others of this test must be served. */
function unlessUnsatisfiable(run: () => string | null): string | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof ValidationError && unsatisfiable.some((form) => form.test(error.message))) return null;
    throw error;
  }
}

describe('constrained texts', () => {
  it('satisfy their JSON schema', () => {
    let numFinished = 0;
    fc.assert(
      fc.property(schema, layouts, randomness, (given, layout, nextUniform) => {
        const constraint = outputConstraint({kind: 'json', text: JSON.stringify(given), ...layout});
        const answer = unlessUnsatisfiable(() => constrainedText(constraint, nextUniform));
        if (answer === null) return;
        numFinished++;
        const isValid = ajv.validate(given, JSON.parse(answer));
        expect(isValid, `${answer} for ${JSON.stringify(given)}: ${ajv.errorsText()}`).toBe(true);
      }),
      {numRuns: 300},
    );
    expect(numFinished).toBeGreaterThan(200);
  }, 60_000);

  it.each([
    '[a-z]+\\d{3}',
    '(foo|ba[rz]){1,3}',
    '[^a-y]{2,4}',
    'é?😀+x',
    '\\w+@\\w+\\.(com|org)',
    '(a?b?){2}c',
    '.{3}',
    '\\S\\s\\D',
  ])('match the regular expression %s', (pattern) => {
    fc.assert(
      fc.property(randomness, (nextUniform) => {
        const answer = constrainedText(outputConstraint({kind: 'regex', text: pattern}), nextUniform);
        expect(answer === null || new RegExp(`^(?:${pattern})$`, 'u').test(answer), String(answer)).toBe(true);
      }),
      {numRuns: 20},
    );
  });

  it('are one of the choices', () => {
    const choices = ['red', 'green', 'red wine', 'é', '', 'a"b'];
    fc.assert(
      fc.property(randomness, (nextUniform) => {
        expect(choices).toContain(
          constrainedText(outputConstraint({kind: 'choice', text: JSON.stringify(choices)}), nextUniform),
        );
      }),
    );
  });

  it('are JSON objects', () => {
    fc.assert(
      fc.property(randomness, (nextUniform) => {
        const answer = constrainedText(outputConstraint({kind: 'json_object', text: ''}), nextUniform);
        if (answer !== null) expect(JSON.parse(answer)).toBeTypeOf('object');
      }),
      {numRuns: 50},
    );
  });
});
