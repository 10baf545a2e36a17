/** What installing does besides copying files: nothing. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';

const root = join(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');

it('PR-engine-09: no script runs, so nothing is fetched from outside the registry, wherever nvcc is found', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const {scripts} = JSON.parse(read('package.json')) as {scripts: Record<string, string>};
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
});

it('PR-engine-09: no package has an address of its own, beside the registry that npm is set to', () => {
  const {packages} = JSON.parse(read('package-lock.json')) as {packages: Record<string, {resolved?: string}>};
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  expect(Object.keys(packages).filter((name) => packages[name]!.resolved !== undefined)).toEqual([]);
});
