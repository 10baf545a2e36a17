/** The rules of `.dependency-cruiser.mjs` catch what they are there for: each case is a small tree with one bad import. */
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet} from 'dependency-cruiser';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';

interface Configuration {
  forbidden: IFlattenedRuleSet['forbidden'];
  options: ICruiseOptions;
}

const repository = resolve(import.meta.dirname, '../../..');
let configuration: Configuration;
let folder: string;

beforeAll(async () => {
  configuration = (await import(join(repository, '.dependency-cruiser.mjs'))).default;
  folder = mkdtempSync(join(tmpdir(), 'parlance-import-rules-'));
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({dependencies: {fastify: '*', zod: '*'}}));
});

afterAll(() => rmSync(folder, {recursive: true}));

/** Names of the rules that the files break. */
async function brokenRules(files: Record<string, string>): Promise<string[]> {
  rmSync(join(folder, 'src'), {recursive: true, force: true});
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), {recursive: true});
    writeFileSync(join(folder, path), text);
  }
  const {tsConfig: _tsConfig, ...options} = configuration.options;
  const ruleSet = {forbidden: configuration.forbidden} as IFlattenedRuleSet;
  const result = await cruise(['src'], {...options, ruleSet, validate: true, baseDir: folder});
  return (result.output as ICruiseResult).summary.violations.map(({rule}) => rule.name);
}

const leaf = 'export const value = 1;\n';
const importOf = (path: string) => `import {value} from '${path}';\nexport const copy = value;\n`;

describe('import rules', () => {
  it.each<[string, Record<string, string>, string[]]>([
    [
      'the engine sees the renderer',
      {'src/core/engine/a.ts': importOf('../renderer/b.ts'), 'src/core/renderer/b.ts': leaf},
      ['layer-core-engine'],
    ],
    [
      'the renderer sees the engine',
      {'src/core/renderer/a.ts': importOf('../engine/engine-core.ts'), 'src/core/engine/engine-core.ts': leaf},
      ['layer-core-renderer'],
    ],
    [
      'the core sees the server',
      {'src/core/util/a.ts': importOf('../../server/b.ts'), 'src/server/b.ts': leaf},
      ['layer-core-util'],
    ],
    [
      'the server reaches behind the front',
      {'src/server/a.ts': importOf('../core/engine/scheduler/b.ts'), 'src/core/engine/scheduler/b.ts': leaf},
      ['layer-server'],
    ],
    [
      'the load generator sees the engine',
      {'src/bench/a.ts': importOf('../core/engine/b.ts'), 'src/core/engine/b.ts': leaf},
      ['layer-bench'],
    ],
    [
      'a type is an import too',
      {
        'src/core/engine/a.ts': "import type {T} from '../renderer/b.ts';\nexport type U = T;\n",
        'src/core/renderer/b.ts': 'export type T = 1;\n',
      },
      ['layer-core-engine'],
    ],
    [
      'somebody else uses fastify',
      {'src/core/llm.ts': "import fastify from 'fastify';\nexport const app = fastify();\n"},
      ['owner-fastify'],
    ],
    [
      'a package of the tests',
      {'src/core/llm.ts': "import {vi} from 'vitest';\nexport const a = vi;\n"},
      ['no-dev-packages'],
    ],
    [
      'two modules need each other',
      {
        'src/core/util/a.ts': importOf('./b.ts'),
        'src/core/util/b.ts': "import {copy} from './a.ts';\nexport const value = () => copy;\n",
      },
      ['no-cycles'],
    ],
    ['an import leads nowhere', {'src/core/util/a.ts': importOf('./missing.ts')}, ['no-unresolvable']],
    [
      'what is allowed',
      {
        'src/server/a.ts': importOf('../core/llm.ts'),
        'src/core/llm.ts': importOf('./engine/b.ts').replace('copy', 'value'),
        'src/core/engine/b.ts': leaf,
      },
      [],
    ],
  ])('%s', async (_name, files, expected) => {
    expect(await brokenRules(files)).toEqual(expected);
  });
});
