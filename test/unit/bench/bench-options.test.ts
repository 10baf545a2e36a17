/** The options as flags: every kind is read from the command line as what it is. */
import {expect, it} from 'vitest';
import {benchOptionsSchema} from '../../../src/bench/bench-options.ts';
import {optionsFromFlags} from '../../../src/cli/flags-from-schema.ts';
import {optionSpecs} from '../../../src/cli/option-spec.ts';

const specs = optionSpecs(benchOptionsSchema);

it('numbers that may be absent are numbers on the command line', () => {
  const options = optionsFromFlags(benchOptionsSchema, specs, {
    temperature: '0',
    'top-k': '5',
    'ramp-up-start-rps': '0.5',
  });
  expect(options).toMatchObject({temperature: 0, topK: 5, rampUpStartRps: 0.5, topP: null});
});

it('has the spellings of other tools, and ten flags or so on the first page', () => {
  const aliases = Object.fromEntries(specs.flatMap((spec) => spec.aliases.map((alias) => [alias, spec.flag])));
  expect(aliases).toMatchObject({concurrency: 'max-concurrency', url: 'base-url'});
  expect(specs.filter((spec) => spec.isOnFirstPage).length).toBeLessThanOrEqual(16);
});

it('never shows keys and headers', () => {
  expect(specs.filter((spec) => spec.isSecret).map(({flag}) => flag)).toEqual(['header', 'api-key']);
});
