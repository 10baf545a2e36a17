/**
 * What lies on this disk as a model, as paths: nothing (the embedded model), a `.gguf` file, a folder that holds one, a
 * Hugging Face folder with safetensors, or a Transformers.js folder with graphs in `onnx`. Every way to get it wrong ends
 * in a ModelError that says what was found, what is allowed and what to try. Names of other places: `find-model.ts`.
 */
import {access, constants, open, readdir, stat} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import type {DtypeName} from '../config/model-source-options.ts';
import {ModelError} from '../errors.ts';
import {readFault} from '../util/file-fault.ts';
import {findPackageRoot} from '../util/package-root.ts';
import {wholePath} from './gguf/gguf-parts.ts';
import {textFolderOf} from './gguf/gguf-text-files.ts';
import {isGguf, isGgufModel} from './hub/choose-files.ts';
import {chooseGraph} from './onnx-layout.ts';
import {hasSafetensors} from './safetensors/safetensors-folder.ts';

/** Absolute paths of the files that the text side reads; null = there is no such file. */
export interface TextFiles {
  folder: string;
  tokenizerPath: string | null;
  tokenizerConfigPath: string | null;
  specialTokensMapPath: string | null;
  configPath: string | null;
  generationConfigPath: string | null;
  chatTemplatePath: string | null;
  /** `additional_chat_templates/<name>.jinja`, by name. */
  additionalTemplatePaths: ReadonlyMap<string, string>;
}

/** Absolute paths of a model's files. */
export interface ModelFiles extends TextFiles {
  /** The `.gguf` or `.onnx` file, or the folder with `config.json` and safetensors. */
  weightsPath: string;
  tokenizerPath: string;
  /** The model as the user named it, for logs and as served name. */
  displayName: string;
}

const embeddedModel = {displayName: 'smollm2-135m-instruct', folder: 'models/smollm2-135m-instruct'};

const whatIsAllowed =
  'Give a .gguf file, a folder that holds one or a model in safetensors (config.json, model.safetensors, tokenizer.json) or in onnx/model.onnx, or the id of a model on the Hugging Face Hub (owner/name).';

/**
 * @param model path as the user gave it, relative to the working directory; null = the embedded model
 * @param dtype which graph of a Transformers.js folder is meant
 * @throws ModelError
 */
export async function resolveModel(model: string | null, dtype: DtypeName = 'auto'): Promise<ModelFiles> {
  if (model === null) {
    return filesOfFolder(join(findPackageRoot(), embeddedModel.folder), embeddedModel.displayName, dtype);
  }
  if (model === '') throw new ModelError(`The name of the model is empty. ${whatIsAllowed}`);
  const path = resolve(model);
  const stats = await stat(path).catch(() => null);
  if (!stats) throw missingModelError(model);
  await access(path, constants.R_OK).catch((cause) => {
    throw new ModelError(`The model ${model} cannot be read: ${readFault(cause)}.`, {
      cause,
    });
  });
  if (stats.isDirectory()) return filesOfFolder(path, model, dtype);
  if (isGguf(path) || (await startsAsGguf(path))) return filesWithWeights(dirname(path), wholePath(path), model);
  if (path.toLowerCase().endsWith('.onnx')) return filesWithWeights(folderOfGraph(path), path, model);
  throw new ModelError(`The model ${model} is not a .gguf file. ${whatIsAllowed}`);
}

async function filesOfFolder(folder: string, displayName: string, dtype: DtypeName): Promise<ModelFiles> {
  const all = await readdir(folder);
  const names = [...new Set(all.filter(isGgufModel).map(wholePath))].sort();
  const [name, ...others] = names;
  const graphs = await graphsOf(folder, all);
  const isOther = name === undefined && hasSafetensors(all);
  if (graphs.length > 0 && (dtype !== 'auto' || (name === undefined && !isOther))) {
    return filesWithWeights(folder, join(folder, 'onnx', chooseGraph(graphs, dtype, displayName)), displayName);
  }
  refuseDtype(dtype, displayName);
  if (isOther) return filesWithWeights(folder, folder, displayName);
  if (name === undefined) throw await noWeightsError(folder, displayName);
  if (others.length > 0) {
    throw new ModelError(
      `The folder ${displayName} holds ${names.length} .gguf files: ${names.join(', ')}. ` +
        `Name the one to serve, for example ${join(displayName, name)}.`,
    );
  }
  return filesWithWeights(folder, join(folder, name), displayName);
}

async function graphsOf(folder: string, names: readonly string[]): Promise<string[]> {
  if (!names.includes('onnx')) return [];
  const files = await readdir(join(folder, 'onnx')).catch((): string[] => []);
  return files.filter((file) => file.endsWith('.onnx'));
}

/** Names of the precision in which everything is computed here. */
const exactDtypes: ReadonlySet<DtypeName> = new Set(['auto', 'fp32', 'float32', 'float']);

/** @throws ModelError when the type would choose a graph, and there is none */
export function refuseDtype(dtype: DtypeName, displayName: string): void {
  if (exactDtypes.has(dtype)) return;
  throw new ModelError(
    `--dtype ${dtype} chooses a graph in the folder onnx, and ${displayName} has none: GGUF files and safetensors are computed in float32. ` +
      'Leave it out; --quantization int8 or int4 makes safetensors smaller.',
  );
}

/** Stores of other programs name files by their hash. */
async function startsAsGguf(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString('latin1') === 'GGUF';
  } finally {
    await handle.close();
  }
}

/** `<folder>/onnx/<graph>.onnx`: the other files of the model are one folder up. */
function folderOfGraph(path: string): string {
  return basename(dirname(path)) === 'onnx' ? dirname(dirname(path)) : dirname(path);
}

/**
 * @param folder that holds the files of the text side
 * @throws ModelError when there is no tokenizer
 */
export async function filesWithWeights(folder: string, weightsPath: string, displayName: string): Promise<ModelFiles> {
  const files = await textFilesOf(folder, weightsPath);
  const {tokenizerPath} = files;
  if (tokenizerPath === null) throw noTokenizerError(folder, displayName);
  return {...files, weightsPath, tokenizerPath, displayName};
}

/** The files of the folder; where it has no tokenizer, what a GGUF file has inside, below the files that are there. */
async function textFilesOf(folder: string, weightsPath: string): Promise<TextFiles> {
  const files = await findTextFiles(folder);
  const hasTokenizer = files.tokenizerPath !== null;
  const isFile = weightsPath !== folder && !weightsPath.endsWith('.onnx');
  return !hasTokenizer && isFile ? withFilesInside(files, weightsPath) : files;
}

async function withFilesInside(files: TextFiles, weightsPath: string): Promise<TextFiles> {
  const inside = await findTextFiles(await textFolderOf(weightsPath));
  return {
    ...files,
    tokenizerPath: inside.tokenizerPath,
    tokenizerConfigPath: files.tokenizerConfigPath ?? inside.tokenizerConfigPath,
    generationConfigPath: files.generationConfigPath ?? inside.generationConfigPath,
  };
}

/** The text side of a GGUF file, from the files beside it or from the file itself. @param path one that exists */
export function findTextFilesOfGguf(path: string): Promise<TextFiles> {
  return textFilesOf(dirname(path), path);
}

/** @param folder one that exists */
export async function findTextFiles(folder: string): Promise<TextFiles> {
  const names = new Set(await readdir(folder));
  const pathOf = (name: string) => (names.has(name) ? join(folder, name) : null);
  return {
    folder,
    tokenizerPath: pathOf('tokenizer.json'),
    tokenizerConfigPath: pathOf('tokenizer_config.json'),
    specialTokensMapPath: pathOf('special_tokens_map.json'),
    configPath: pathOf('config.json'),
    generationConfigPath: pathOf('generation_config.json'),
    chatTemplatePath: pathOf('chat_template.jinja'),
    additionalTemplatePaths: await findTemplates(pathOf('additional_chat_templates')),
  };
}

async function findTemplates(folder: string | null): Promise<Map<string, string>> {
  const names = folder === null ? [] : (await readdir(folder)).filter((name) => name.endsWith('.jinja')).sort();
  return new Map(names.map((name) => [basename(name, '.jinja'), join(folder!, name)]));
}

function missingModelError(model: string): ModelError {
  return new ModelError(`There is no file or folder ${model}. ${whatIsAllowed}`);
}

async function noWeightsError(folder: string, displayName: string): Promise<ModelError> {
  const otherWeights = (await readdir(folder)).find((name) => /\.(safetensors|bin|onnx)$/.test(name));
  const found = otherWeights ? ` (${otherWeights} is of a kind that cannot be loaded yet)` : '';
  return new ModelError(`The folder ${displayName} holds no weights of a model${found}. ${whatIsAllowed}`);
}

function noTokenizerError(folder: string, displayName: string): ModelError {
  return new ModelError(
    `There is no tokenizer.json in ${folder} (model ${displayName}). Put the tokenizer.json of the model into that folder.`,
  );
}
