/**
 * Which files of a repository make a model that can be served: one GGUF file, safetensors with their shards, or a graph
 * with its data, each with the files of the text side. Pure: a listing in, a choice or an error with the choices out.
 */
import type {DtypeName} from '../../config/model-source-options.ts';
import {ModelError} from '../../errors.ts';
import {missingParts, parsePartName, partNames, wholePath} from '../gguf/gguf-parts.ts';
import {chooseGraph, dataFilesOf, graphDtypes} from '../onnx-layout.ts';

/** What a repository says of one file. */
export interface RepoFile {
  path: string;
  numBytes: number;
}

export type WeightKind = 'gguf' | 'safetensors' | 'onnx';

export interface FileChoice<File extends RepoFile> {
  kind: WeightKind;
  /** The file to load; for safetensors null: the folder. */
  weightsPath: string | null;
  weights: File[];
  text: File[];
  /** Why these and what else there is, for the log; null when there was nothing to choose. */
  note: string | null;
}

export interface Wish {
  /** The id, for messages. */
  name: string;
  selector: string | null;
  dtype: DtypeName;
}

const textFileNames: ReadonlySet<string> = new Set([
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
]);

/** Quantizations in the order in which they are taken when none is named: small enough to run, good enough to use. */
const ggufPreference = [
  'Q4_K_M',
  'Q4_K_S',
  'Q4_0',
  'Q4_1',
  'IQ4_XS',
  'Q5_K_M',
  'Q5_K_S',
  'Q6_K',
  'Q8_0',
  'F16',
  'BF16',
  'F32',
];

const quantizationPattern = /(?:^|[-._/])((?:UD-)?(?:I?Q\d\w*|TQ\d_\d|MXFP4\w*|BF16|F16|F32|FP16|FP32))(?=[-._]|$)/gi;

/** @throws ModelError when nothing fits, or the choice is not clear */
export function chooseFiles<File extends RepoFile>(files: readonly File[], wish: Wish): FileChoice<File> {
  const text = files.filter(({path}) => isTextFile(path));
  const wantsGraph = wish.selector === null ? wish.dtype !== 'auto' : Object.hasOwn(graphDtypes, wish.selector);
  if (wish.selector !== null && !wantsGraph) return {text, ...chooseSelected(files, wish.selector, wish)};
  const choices = [() => chooseSafetensors(files), () => chooseGguf(files, wish), () => chooseOnnx(files, wish)];
  for (const choose of wantsGraph ? choices.reverse() : choices) {
    const choice = choose();
    if (choice) return {text, ...choice};
  }
  throw nothingToServe(files, wish.name);
}

export function isTextFile(path: string): boolean {
  return textFileNames.has(path) || /^additional_chat_templates\/[^/]+\.jinja$/.test(path);
}

type Weights<File extends RepoFile> = Omit<FileChoice<File>, 'text'>;

function chooseSafetensors<File extends RepoFile>(files: readonly File[]): Weights<File> | null {
  const isIndex = ({path}: RepoFile) => path === 'model.safetensors.index.json';
  const hasIndex = files.some(isIndex);
  const isWeight = ({path}: RepoFile) =>
    hasIndex ? /^model-\d+-of-\d+\.safetensors$/.test(path) : path === 'model.safetensors';
  const weights = files.filter(isWeight);
  if (weights.length === 0) return null;
  return {kind: 'safetensors', weightsPath: null, weights: [...files.filter(isIndex), ...weights], note: null};
}

function chooseGguf<File extends RepoFile>(files: readonly File[], {name}: Wish): Weights<File> | null {
  const models = wholeModels(files.filter(({path}) => isGgufModel(path)));
  const preferred = ggufPreference
    .map((wanted) => models.find(({path}) => quantizationOf(path) === wanted))
    .find((model) => model !== undefined);
  const model = models.length === 1 ? models[0] : preferred;
  if (model) return oneGguf(model, name, models);
  if (models.length === 0) return null;
  throw new ModelError(
    `${name} has ${models.length} .gguf files: ${listed(models)}. Say which, for example ${name}:${selectorOf(models[0] as WholeModel<File>)}.`,
  );
}

function chooseSelected<File extends RepoFile>(files: readonly File[], selector: string, {name}: Wish): Weights<File> {
  const found = wholeModels(files.filter(({path}) => /\.(gguf|onnx)$/i.test(path))).filter(({parts}) =>
    parts.some(({path}) => matches(path, selector)),
  );
  const [model] = found;
  if (found.length > 1) {
    throw new ModelError(`${name}:${selector} fits ${found.length} files: ${listed(found)}. Name one of them.`);
  }
  if (model && isGguf(model.path)) return oneGguf(model, name, [model]);
  if (model) return oneGraph(files, model.parts[0] as File);
  const choices = wholeModels(files.filter(({path}) => isGgufModel(path)));
  const advice = choices.length > 0 ? ` There are: ${listed(choices)}.` : '';
  throw new ModelError(`${name} has no file for "${selector}".${advice}`);
}

/** A file, or the parts of one. */
interface WholeModel<File extends RepoFile> extends RepoFile {
  parts: File[];
}

function wholeModels<File extends RepoFile>(files: readonly File[]): WholeModel<File>[] {
  const byPath = new Map<string, WholeModel<File>>();
  for (const file of files) {
    const path = wholePath(file.path);
    const model = byPath.get(path) ?? {path, numBytes: 0, parts: []};
    byPath.set(path, {path, numBytes: model.numBytes + file.numBytes, parts: [...model.parts, file]});
  }
  return [...byPath.values()];
}

/** @throws ModelError when a part is missing */
function oneGguf<File extends RepoFile>(
  model: WholeModel<File>,
  name: string,
  all: readonly WholeModel<File>[],
): Weights<File> {
  const partName = parsePartName(model.path);
  const there = new Set(model.parts.map(({path}) => path));
  const missing = partName === null ? [] : partNames(partName).filter((path) => !there.has(path));
  if (missing.length > 0) throw missingParts((model.parts[0] as File).path, name, missing);
  const others = all.filter((other) => other !== model);
  const note =
    others.length === 0
      ? null
      : `${name}: takes ${model.path}; others are chosen with a colon, for example ${name}:${selectorOf(others[0] as WholeModel<File>)} (there are ${listed(others)})`;
  return {kind: 'gguf', weightsPath: model.path, weights: model.parts, note};
}

function chooseOnnx<File extends RepoFile>(
  files: readonly File[],
  {name, selector, dtype}: Wish,
): Weights<File> | null {
  const graphs = files.filter(({path}) => /^onnx\/[^/]+\.onnx$/.test(path));
  if (graphs.length === 0) return null;
  const names = graphs.map(({path}) => path.slice('onnx/'.length));
  const graph = chooseGraph(names, (selector as DtypeName | null) ?? dtype, name);
  return oneGraph(files, graphs.find(({path}) => path === `onnx/${graph}`) as File);
}

function oneGraph<File extends RepoFile>(files: readonly File[], graph: File): Weights<File> {
  const dataNames = dataFilesOf(
    graph.path,
    files.map(({path}) => path),
  );
  const data = files.filter(({path}) => dataNames.includes(path));
  return {kind: 'onnx', weightsPath: graph.path, weights: [graph, ...data], note: null};
}

export function isGguf(path: string): boolean {
  return path.toLowerCase().endsWith('.gguf');
}

/** Projectors of pictures and tables for quantizing lie beside models under the same ending. */
export function isGgufModel(path: string): boolean {
  return isGguf(path) && !/(?:^|[-_./])(?:mmproj|imatrix)/i.test(path);
}

/** The quantization that a file's name says, in capitals; null when it says none. */
export function quantizationOf(path: string): string | null {
  const found = [...path.replace(/\.gguf$/i, '').matchAll(quantizationPattern)].at(-1);
  return found ? (found[1] as string).toUpperCase() : null;
}

function matches(path: string, selector: string): boolean {
  const wanted = selector.toLowerCase();
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf('/') + 1);
  if (wanted.includes('*')) return [whole, name].some((text) => patternOf(wanted).test(text));
  return [whole, name, name.replace(/\.(gguf|onnx)$/, ''), quantizationOf(path)?.toLowerCase()].includes(wanted);
}

/** `*` stands for any text. Written so that no input makes it slow: the parts have to follow each other. */
function patternOf(pattern: string): {test(text: string): boolean} {
  const [first = '', ...parts] = pattern.split('*');
  return {
    test(text) {
      if (!text.startsWith(first)) return false;
      let at = first.length;
      for (const [index, part] of parts.entries()) {
        const isLast = index === parts.length - 1;
        const found = isLast ? text.length - part.length : text.indexOf(part, at);
        if (found < at || !text.startsWith(part, found)) return false;
        at = found + part.length;
      }
      return true;
    },
  };
}

function selectorOf({path}: RepoFile): string {
  return quantizationOf(path) ?? path;
}

const maxListed = 12;

function listed(files: readonly RepoFile[]): string {
  const shown = files.slice(0, maxListed).map(({path, numBytes}) => `${path} (${sizeText(numBytes)})`);
  return `${shown.join(', ')}${files.length > maxListed ? `, and ${files.length - maxListed} more` : ''}`;
}

/** As people read sizes of files, with powers of 1000. */
export function sizeText(numBytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = numBytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

function nothingToServe(files: readonly RepoFile[], name: string): ModelError {
  const other = files.find(({path}) => /\.(bin|pth?|msgpack|h5|safetensors|onnx|npz|mlmodel)$/i.test(path));
  const found = other ? ` It has ${other.path}, which is of a kind that cannot be loaded.` : '';
  return new ModelError(
    `${name} has no weights that can be served: neither a .gguf file, nor model.safetensors, nor a graph in onnx.${found}`,
  );
}
