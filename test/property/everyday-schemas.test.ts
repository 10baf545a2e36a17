/** Schemas as they come with real requests: all are served, and what is written satisfies them, as ajv judges. */

import {Ajv} from 'ajv';
import {Ajv2020} from 'ajv/dist/2020.js';
import {describe, expect, it} from 'vitest';
import {Random} from '../../src/core/sampling/random.ts';
import {constrainedText, outputConstraint} from '../support/constrained-text.ts';
import {everydaySchemas} from '../support/everyday-schemas.ts';

const numTexts = 6;
const options = {strict: false, validateFormats: false, multipleOfPrecision: 9};

function validatorOf(schema: object) {
  const isOld = JSON.stringify(schema).includes('"additionalItems"');
  const {$schema: _, ...stated} = schema as {$schema?: string};
  return isOld ? new Ajv(options).compile(stated) : new Ajv2020(options).compile(stated);
}

describe('everyday schemas', () => {
  it('are many', () => expect(Object.keys(everydaySchemas).length).toBeGreaterThanOrEqual(50));

  it.each(Object.entries(everydaySchemas))('%s', (_, schema) => {
    const isValid = validatorOf(schema);
    let numFinished = 0;
    for (let seed = 0; seed < numTexts; seed++) {
      const random = Random.fromSeed(BigInt(seed));
      const constraint = outputConstraint({kind: 'json', text: JSON.stringify(schema)});
      const answer = constrainedText(constraint, () => random.nextUniform());
      if (answer === null) continue;
      numFinished++;
      expect(isValid(JSON.parse(answer)), `${answer}: ${JSON.stringify(isValid.errors)}`).toBe(true);
    }
    expect(numFinished).toBeGreaterThan(0);
  });
});
