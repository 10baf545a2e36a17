#!/usr/bin/env node
/**
 * Starts the built command line. `--version` is answered without loading anything, and `--help=TOPIC` is made visible to
 * oclif, which knows only the bare `--help`.
 */
import {readFileSync} from 'node:fs';
import module from 'node:module';
import {homedir} from 'node:os';

const argv = process.argv.slice(2);

if (argv.length === 1 && ['--version', '-v'].includes(argv[0])) {
  const {name, version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`);
} else {
  giveHome();
  module.enableCompileCache?.();
  const {execute} = await import('@oclif/core');
  const asksForTopic = argv.some((argument) => argument.startsWith('--help='));
  await execute({dir: import.meta.url, args: asksForTopic ? [...argv, '--help'] : argv});
}

/** A user without an entry among the users and without HOME, as services and containers have, is at home in the root. */
function giveHome() {
  try {
    homedir();
  } catch {
    process.env.HOME = '/';
  }
}
