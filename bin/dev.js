#!/usr/bin/env node
/** Starts the command line from the sources, without a build: the same as `run.js`, with tsx. Help comes from the manifest. */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {execute} from '@oclif/core';
import {register} from 'tsx/esm/api';

register();
const root = fileURLToPath(new URL('..', import.meta.url));
const pjson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
pjson.oclif = {
  ...pjson.oclif,
  commands: {strategy: 'pattern', target: './src/commands'},
  helpClass: './src/cli/help.ts',
  hooks: {command_not_found: './src/cli/command-not-found.ts'},
};

const argv = process.argv.slice(2);
const asksForTopic = argv.some((argument) => argument.startsWith('--help='));
await execute({
  args: asksForTopic ? [...argv, '--help'] : argv,
  loadOptions: {root, pjson},
});
