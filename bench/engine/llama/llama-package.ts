/** Gets node-llama-cpp, llama.cpp with prebuilt binaries, into a cache folder that git ignores. No dependency of ours. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';

const packageName = 'node-llama-cpp';
export const llamaPackageVersion = '3.22.1';

/**
 * Installs the package unless it is there.
 * @param folder an npm folder of its own
 * @returns the package's entry file
 * @throws Error when it cannot be installed, or when another version is there
 */
export async function installLlama(folder: string, onProgress: (line: string) => void): Promise<string> {
  const packageFolder = join(folder, 'node_modules', packageName);
  if (!existsSync(packageFolder)) {
    onProgress(`installing ${packageName}@${llamaPackageVersion} into ${folder}`);
    await npmInstall(folder);
  }
  const {version, main} = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  if (version !== llamaPackageVersion) {
    throw new Error(
      `${packageFolder} is version ${version}, but ${llamaPackageVersion} is measured. Remove ${folder}.`,
    );
  }
  return join(packageFolder, main);
}

/**
 * Without scripts: the binaries are packages of their own, and nothing may be compiled or downloaded. Of these packages
 * only the one for this processor is wanted; the others, for GPUs, are large.
 */
async function npmInstall(folder: string): Promise<void> {
  await mkdir(folder, {recursive: true});
  await writeFile(join(folder, 'package.json'), '{"private": true}\n');
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  const packages = [packageName, binaryPackageName()].map((name) => `${name}@${llamaPackageVersion}`);
  const npm = spawn('npm', ['install', '--prefix', folder, ...flags, ...packages], {stdio: ['ignore', 2, 2]});
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm could not install ${packages.join(' and ')} (exit code ${code})`);
}

function binaryPackageName(): string {
  return `@node-llama-cpp/linux-${process.arch === 'arm' ? 'armv7l' : process.arch}`;
}
