/**
 * Models that Ollama and LM Studio have downloaded, found by the names that these programs use: `ollama:llama3.2:1b`
 * and `lmstudio:publisher/model`. Both keep GGUF files; nothing is copied or changed.
 */
import {readdir, readFile, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {ModelError} from '../errors.ts';
import {parseJsonObject} from '../util/read-json.ts';
import {chooseFiles, type RepoFile} from './hub/choose-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const modelLayer = 'application/vnd.ollama.image.model';
const defaultHost = 'registry.ollama.ai';

/**
 * @returns the path of a GGUF file; null when the name is not of one of the stores
 * @throws ModelError when the store does not have it
 */
export async function findInOtherStore(name: string, env: Environment = process.env): Promise<string | null> {
  const [, store, rest = ''] = /^(ollama|lmstudio):(.+)$/i.exec(name) ?? [];
  if (store === undefined) return null;
  return store.toLowerCase() === 'ollama' ? findOllamaModel(rest, env) : findLmStudioModel(rest, env);
}

async function findOllamaModel(name: string, env: Environment): Promise<string> {
  const root = env.OLLAMA_MODELS || join(homedir(), '.ollama', 'models');
  const path = join(root, 'manifests', ...ollamaPath(name));
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) throw new ModelError(`Ollama has no model ${name} in ${root}. Try: ollama pull ${name}.`);
  const {layers} = parseJsonObject(text, path);
  const all = Array.isArray(layers) ? (layers as {mediaType?: unknown; digest?: unknown}[]) : [];
  const digest = String(all.find((layer) => layer?.mediaType === modelLayer)?.digest ?? '');
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new ModelError(`${path} names no model file.`);
  return join(root, 'blobs', digest.replace(':', '-'));
}

/** `llama3.2` is `registry.ollama.ai/library/llama3.2/latest`. @throws ModelError for a name that is none */
function ollamaPath(name: string): string[] {
  const [path = '', tag = 'latest'] = name.split(':');
  const parts = path.split('/');
  if (![...parts, tag].every((part) => /^[\w][\w.-]*$/.test(part)) || parts.length > 3) {
    throw new ModelError(`"${name}" is no name of a model of Ollama, such as llama3.2:1b.`);
  }
  const defaults = [defaultHost, 'library'].slice(0, 3 - parts.length);
  return [...defaults, ...parts, tag];
}

async function findLmStudioModel(name: string, env: Environment): Promise<string> {
  const [path = '', selector = null] = name.split(':');
  const [owner = '', model = '', ...rest] = path.split('/');
  if (![owner, model].every((part) => /^[\w][\w.-]*$/.test(part)) || rest.length > 0) {
    throw new ModelError(
      `"${name}" is no name of a model of LM Studio, such as publisher/model or publisher/model:Q8_0.`,
    );
  }
  for (const root of lmStudioFolders(env)) {
    const folder = join(root, owner, model);
    const files = await ggufFilesOf(folder);
    if (files.length === 0) continue;
    const {weightsPath} = chooseFiles(files, {name: `lmstudio:${path}`, selector, dtype: 'auto'});
    return join(folder, weightsPath ?? '');
  }
  throw new ModelError(`LM Studio has no model ${path} in ${lmStudioFolders(env).join(' or ')}.`);
}

function lmStudioFolders(env: Environment): string[] {
  const named = env.LMSTUDIO_MODELS ? [env.LMSTUDIO_MODELS] : [];
  const usual = ['.lmstudio', join('.cache', 'lm-studio')].map((folder) => join(homedir(), folder, 'models'));
  return [...named, ...usual];
}

async function ggufFilesOf(folder: string): Promise<RepoFile[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => /\.gguf$/i.test(name));
  return Promise.all(names.map(async (path) => ({path, numBytes: (await stat(join(folder, path))).size})));
}
