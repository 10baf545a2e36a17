/** From the values of `--plugin` to plugins: files relative to the working folder, or packages that can be found from it. */
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {UsageError} from '../../core/errors.ts';
import type {EndpointPlugin} from './endpoint-plugin.ts';

/** @throws UsageError when there is no such module, it fails while loading, or it is no plugin */
export async function loadPlugins(names: readonly string[], folder = process.cwd()): Promise<EndpointPlugin[]> {
  return Promise.all(names.map((name) => loadPlugin(name, folder)));
}

async function loadPlugin(name: string, folder: string): Promise<EndpointPlugin> {
  const {default: plugin} = await importModule(name, locate(name, folder));
  if (isPlugin(plugin)) return plugin;
  throw new UsageError(`--plugin ${name} has no plugin as its default export`, {
    hint: 'A plugin is an object with a name and a function register(server); see docs/plugins.md.',
  });
}

function locate(name: string, folder: string): string {
  const path = resolve(folder, name);
  if (existsSync(path)) return pathToFileURL(path).href;
  try {
    return pathToFileURL(createRequire(resolve(folder, 'package.json')).resolve(name)).href;
  } catch (cause) {
    // The package is there, but only for `import`, which finds it beside this program.
    if ((cause as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return name;
    throw new UsageError(`--plugin ${name}: there is no such file or package`, {cause});
  }
}

async function importModule(name: string, url: string): Promise<{default?: unknown}> {
  try {
    return (await import(url)) as {default?: unknown};
  } catch (cause) {
    throw new UsageError(`--plugin ${name} cannot be loaded: ${(cause as Error).message}`, {cause});
  }
}

function isPlugin(value: unknown): value is EndpointPlugin {
  const {name, register} = (value ?? {}) as Partial<EndpointPlugin>;
  return typeof name === 'string' && typeof register === 'function';
}
