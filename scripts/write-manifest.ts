/**
 * Writes `oclif.manifest.json` from the sources: the list of commands with their flags, from which oclif answers help
 * and completion without loading a command. With `--check` it compares instead, and exits 1 when the file is stale.
 */
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Plugin} from '@oclif/core';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifestPath = `${root}oclif.manifest.json`;

/** The manifest as text, stable over machines: no absolute paths, keys in the order of the sources. */
async function manifestText(): Promise<string> {
  const pjson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  pjson.oclif.commands.target = './src/commands';
  const plugin = new Plugin({
    root,
    pjson,
    isRoot: true,
    type: 'core',
    ignoreManifest: true,
    errorOnManifestCreate: true,
  });
  await plugin.load();
  return `${JSON.stringify(withoutPlaces(plugin.manifest), null, 2)}\n`;
}

/** Without the place of the module oclif looks in the folder of commands, which works for sources and built files alike. */
function withoutPlaces({commands, version}: Plugin['manifest']): object {
  const entries = Object.entries(commands).map(([id, {relativePath: _path, isESM: _isEsm, ...command}]) => [
    id,
    command,
  ]);
  return {commands: Object.fromEntries(entries), version};
}

const expected = await manifestText();
if (!process.argv.includes('--check')) writeFileSync(manifestPath, expected);
else if (readFileSync(manifestPath, 'utf8') !== expected) {
  console.error('oclif.manifest.json is stale: run `npm run manifest` and commit it');
  process.exitCode = 1;
}
