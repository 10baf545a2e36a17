/** Chat templates that come with this package, for models that have none: `--chat-template chatml`. */
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {findPackageRoot} from '../util/package-root.ts';

const ending = '.jinja';

function templateFolder(): string {
  return join(findPackageRoot(), 'templates');
}

/** In the order of the alphabet. */
export async function builtInTemplateNames(): Promise<string[]> {
  const files = await readdir(templateFolder());
  return files
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .sort();
}

/** @param name with or without the ending of its file; null = there is no template of this name */
export async function readBuiltInTemplate(name: string): Promise<string | null> {
  const wanted = name.endsWith(ending) ? name.slice(0, -ending.length) : name;
  const isKnown = (await builtInTemplateNames()).includes(wanted);
  return isKnown ? readFile(join(templateFolder(), wanted + ending), 'utf8') : null;
}
