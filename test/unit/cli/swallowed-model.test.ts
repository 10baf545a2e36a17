/** A model's path among the values of a list flag is told, and nothing else is. */
import {expect, it} from 'vitest';
import {optionSpecs} from '../../../src/cli/option-spec.ts';
import {refuseSwallowedModel} from '../../../src/cli/swallowed-model.ts';
import {serverOptionsSchema} from '../../../src/server/server-config.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const specs = optionSpecs(serverOptionsSchema);
const check = (options: Record<string, unknown>) => () => refuseSwallowedModel(specs, options);

it('refuses the path of a model at the end of a list', async () => {
  const folder = await createTemporaryFolder();
  expect(check({servedModelName: ['mine', folder]})).toThrow(
    `${folder} was read as a value of --served-model-name, and no model is left to serve`,
  );
});

it.each([
  ['names that are no paths', {servedModelName: ['org/model', 'test']}],
  ['a path that is not there', {apiKey: ['a/b/c']}],
  ['plugins, which are files', {plugin: ['./package.json']}],
  ['values that are no lists', {rootPath: '/'}],
])('lets %s be', (_name, options) => {
  expect(check(options)).not.toThrow();
});
