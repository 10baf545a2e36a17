/** The tools that are there without a file; none is on unless named. */
import {readdir, readFile, realpath, stat, writeFile} from 'node:fs/promises';
import {dirname, relative, resolve, sep} from 'node:path';
import {UsageError} from '../../core/errors.ts';
import {calculate} from './calculator.ts';
import {fetchText} from './fetch-text.ts';
import {runCommand} from './run-command.ts';
import type {Tool, ToolContext} from './tool.ts';

const maxFileBytes = 256 * 1024;

const objectOf = (properties: Record<string, {type: string; description: string}>, required: string[]) => ({
  type: 'object',
  properties,
  required,
});

const getTime: Tool = {
  name: 'get_time',
  description: 'The date and time now',
  parameters: objectOf(
    {timezone: {type: 'string', description: 'IANA name, e.g. Europe/Berlin; local by default'}},
    [],
  ),
  risk: 'asks',
  async run({timezone}) {
    const timeZone = typeof timezone === 'string' && timezone !== '' ? timezone : undefined;
    return new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'full',
      timeStyle: 'long',
      ...(timeZone && {timeZone}),
    }).format();
  },
};

const calculator: Tool = {
  name: 'calculator',
  description: 'Computes an arithmetic expression such as (2 + 3) * sqrt(16)',
  parameters: objectOf({expression: {type: 'string', description: 'What to compute'}}, ['expression']),
  risk: 'asks',
  async run({expression}) {
    return String(calculate(String(expression)));
  },
};

const pathParameter = {path: {type: 'string', description: 'Path below the working folder'}};

const readFileTool: Tool = {
  name: 'read_file',
  description: 'The content of a text file below the working folder',
  parameters: objectOf(pathParameter, ['path']),
  risk: 'asks',
  async run({path}, context) {
    const place = await placeInside(String(path), context);
    if ((await stat(place)).size > maxFileBytes) throw new Error(`${path} is larger than ${maxFileBytes} bytes`);
    const bytes = await readFile(place);
    if (bytes.includes(0)) throw new Error(`${path} is no text file`);
    return bytes.toString('utf8');
  },
};

const listDir: Tool = {
  name: 'list_dir',
  description: 'The names of files and folders below the working folder',
  parameters: objectOf(pathParameter, []),
  risk: 'asks',
  async run({path = '.'}, context) {
    const entries = await readdir(await placeInside(String(path), context), {withFileTypes: true});
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    return names.length === 0 ? '(empty)' : names.join('\n');
  },
};

const writeFileTool: Tool = {
  name: 'write_file',
  description: 'Writes a text file below the working folder; what was there is replaced',
  parameters: objectOf({...pathParameter, content: {type: 'string', description: 'The text'}}, ['path', 'content']),
  risk: 'always-asks',
  async run({path, content}, context) {
    const place = await newPlaceInside(String(path), context);
    await writeFile(place, String(content));
    return `${Buffer.byteLength(String(content))} bytes written to ${path}`;
  },
};

const runShell: Tool = {
  name: 'run_shell',
  description: 'Runs a command in a shell in the working folder and gives its output',
  parameters: objectOf({command: {type: 'string', description: 'The command line'}}, ['command']),
  risk: 'always-asks',
  run: ({command}, context) =>
    runCommand({command: ['sh', '-c', String(command)], input: '', timeoutMs: 60_000}, context),
};

const fetchUrl: Tool = {
  name: 'fetch_url',
  description: 'The text behind an http or https address',
  parameters: objectOf({url: {type: 'string', description: 'The address'}}, ['url']),
  risk: 'asks',
  run: ({url}, {signal}) => fetchText(String(url), signal),
};

const safeTools = [getTime, calculator, readFileTool, listDir];
export const builtInTools: readonly Tool[] = [...safeTools, writeFileTool, runShell, fetchUrl];

/** `safe` stands for those that only look. @throws UsageError */
export function builtInTool(name: string): readonly Tool[] {
  if (name === 'safe') return safeTools;
  const found = builtInTools.find((tool) => tool.name === name);
  if (found) return [found];
  const names = builtInTools.map((tool) => tool.name).join(', ');
  throw new UsageError(`--tools: there is no tool ${name}`, {hint: `one of safe, ${names}, or a JSON file with tools`});
}

/** Links are followed first, so that none leads out. @throws Error */
async function placeInside(path: string, {folder}: ToolContext): Promise<string> {
  const root = await realpath(folder);
  const place = await realpath(resolve(root, path));
  return checkInside(root, place, path);
}

/** The file itself need not be there yet; its folder must. */
async function newPlaceInside(path: string, context: ToolContext): Promise<string> {
  const whole = resolve(context.folder, path);
  const parent = await placeInside(dirname(whole), context);
  const place = resolve(parent, whole.slice(dirname(whole).length + 1));
  const isThere = await stat(place).then(
    () => true,
    () => false,
  );
  return isThere ? placeInside(place, context) : place;
}

function checkInside(root: string, place: string, path: string): string {
  const way = relative(root, place);
  if (way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way) {
    throw new Error(`${path} is outside the working folder`);
  }
  return place;
}
