/** Command line of the benchmark. */
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {findPackageRoot} from '../../src/core/util/package-root.ts';
import type {Part} from './rounds.ts';
import {fullWorkload, quickWorkload, type Workload} from './workload.ts';

export interface BenchOptions {
  help: boolean;
  model: string | null;
  threads: number;
  parts: readonly Part[];
  workload: Workload;
  isQuick: boolean;
  jsonPath: string | null;
  llamaFolder: string;
  llamaServerPath: string | null;
  build: boolean;
}

export const helpText = `Usage: npm run bench:engine -- [options]

Measures our engine loop and our server side by side with llama.cpp, on the same weights and threads.

  --only loop|http        measure one part only
  --quick                 one short round, to see that everything works
  --rounds N              rounds of both sides (default ${fullWorkload.rounds})
  --threads N             threads of each side (default: all cores of this process)
  --model PATH            .gguf file or folder (default: the embedded model)
  --json FILE             also write every sample as JSON
  --llama-server PATH     measure this llama-server binary of llama.cpp instead of the small server of the benchmark
  --llama-package FOLDER  npm folder that holds node-llama-cpp, or gets it (default: .cache/bench-engine)
  --no-build              measure the server as it was built before
  --help                  show this text
`;

/** @throws Error that says what is wrong with the arguments */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const {values} = parseArgs({
    args: [...argv],
    allowNegative: true,
    options: {
      help: {type: 'boolean', default: false},
      only: {type: 'string'},
      quick: {type: 'boolean', default: false},
      rounds: {type: 'string'},
      threads: {type: 'string'},
      model: {type: 'string'},
      json: {type: 'string'},
      'llama-server': {type: 'string'},
      'llama-package': {type: 'string'},
      build: {type: 'boolean', default: true},
    },
  });
  const workload = values.quick ? quickWorkload : fullWorkload;
  return {
    help: values.help,
    model: values.model ?? null,
    threads: positiveInteger('--threads', values.threads) ?? os.availableParallelism(),
    parts: partsOf(values.only),
    workload: {...workload, rounds: positiveInteger('--rounds', values.rounds) ?? workload.rounds},
    isQuick: values.quick,
    jsonPath: values.json ?? null,
    llamaFolder: path.resolve(values['llama-package'] ?? path.join(findPackageRoot(), '.cache/bench-engine')),
    llamaServerPath: values['llama-server'] ?? null,
    build: values.build,
  };
}

function partsOf(only: string | undefined): readonly Part[] {
  if (only === undefined) return ['loop', 'http'];
  if (only === 'loop' || only === 'http') return [only];
  throw new Error(`--only must be "loop" or "http", not "${only}"`);
}

function positiveInteger(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${flag} must be a whole number above 0, not "${text}"`);
  return Number(text);
}
