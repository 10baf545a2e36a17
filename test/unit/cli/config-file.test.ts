import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {readConfigFile} from '../../../src/cli/config-file.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-config-'));
});

afterAll(() => rmSync(folder, {recursive: true}));

function write(text: string, name = 'server.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('readConfigFile', () => {
  it('reads keys, values and lines', async () => {
    const path = write('port: 9000\n\n# a note\nserved_model_name: [a, b]\nextra:\n  x: 1\nempty:\n');
    expect(await readConfigFile(path)).toEqual([
      {key: 'port', value: 9000, place: 'server.yaml:1'},
      {key: 'served_model_name', value: ['a', 'b'], place: 'server.yaml:4'},
      {key: 'extra', value: {x: 1}, place: 'server.yaml:5'},
      {key: 'empty', value: null, place: 'server.yaml:7'},
    ]);
  });

  it('takes an empty file', async () => {
    expect(await readConfigFile(write('# nothing\n'))).toEqual([]);
  });

  it.each([
    ['a broken file', 'a: [1\nb: 2\n', 'server.yaml', /^server\.yaml:2 is no valid YAML: /],
    ['a key given twice', 'a: 1\na: 2\n', 'server.yaml', /^server\.yaml:\d is no valid YAML: Map keys must be unique/],
    ['a list', '- 1\n', 'server.yml', /^server\.yml has to be a map of flag names to values$/],
    ['another kind of file', '{}', 'server.json', /^--config .*server\.json has to be a \.yaml or \.yml file$/],
  ])('refuses %s', async (_name, text, name, message) => {
    await expect(readConfigFile(write(text, name))).rejects.toThrow(message);
  });

  it('names a file that is not there', async () => {
    await expect(readConfigFile('/no/such.yaml')).rejects.toThrow(
      /^--config \/no\/such\.yaml cannot be read: it does not exist$/,
    );
  });
});
