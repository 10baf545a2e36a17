/**
 * Writes a built graph as two files, `model.onnx` and `weights.bin`; a second graph over the same weights adds only its own
 * file, also later: `regions.json` says where each weight lies. The library maps the weights into memory when it loads the
 * graph, so neither building nor loading holds them twice.
 */
import {type FileHandle, open, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {assertInvariant} from '../../../util/assert.ts';
import {writeFileAtomically} from '../../../util/write-file-atomically.ts';
import type {ExternalWeight, OnnxGraph} from './onnx-graph.ts';
import {encodeOnnxModel, type OnnxInitializer} from './onnx-proto.ts';

export const modelFileName = 'model.onnx';
/** The graph for sequences beyond the original length, of models that have one. */
export const longModelFileName = 'model.long.onnx';
const weightFileName = 'weights.bin';
const regionsFileName = 'regions.json';

/** Regions begin at page borders, so that each can be mapped. */
const regionAlignment = 4096;

const opsets = {'': 21, 'com.microsoft': 1};

/**
 * @param graphs by file name; weights of the same content are written once
 * @param onProgress called with the part that is done, 0..1
 * @returns bytes of each file
 */
export async function writeModel(
  graphs: Readonly<Record<string, OnnxGraph>>,
  folder: string,
  onProgress: (fraction: number) => void,
): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  const handle = await open(path.join(folder, weightFileName), 'wx');
  try {
    const writer = new RegionWriter(handle);
    const total = Object.values(graphs).reduce((sum, {weights}) => sum + weights.length, 0);
    let numWritten = 0;
    for (const [name, graph] of Object.entries(graphs)) {
      const initializers: OnnxInitializer[] = [];
      for (const weight of graph.weights) {
        initializers.push(await writer.write(weight));
        onProgress(++numWritten / total);
      }
      sizes[name] = await writeGraph(graph, initializers, path.join(folder, name));
    }
    await handle.sync();
    sizes[regionsFileName] = await writeRegions(writer.regions, folder);
    return {...sizes, [weightFileName]: writer.position};
  } finally {
    await handle.close();
  }
}

/** Adds a graph to a written model whose other graphs have all of its weights. */
export async function addGraph(graph: OnnxGraph, folder: string, name: string): Promise<void> {
  const regions = JSON.parse(await readFile(path.join(folder, regionsFileName), 'utf8')) as Record<string, Region>;
  const initializers = graph.weights.map((weight) => {
    const region = regions[weight.content];
    assertInvariant(region, `the weight ${weight.content} has been written`);
    return initializerOf(weight, region);
  });
  await writeFileAtomically(path.join(folder, name), encodeGraph(graph, initializers));
}

async function writeGraph(graph: OnnxGraph, initializers: readonly OnnxInitializer[], file: string): Promise<number> {
  const bytes = encodeGraph(graph, initializers);
  await writeFile(file, bytes);
  return bytes.length;
}

function encodeGraph({nodes, inputs, outputs, constants}: OnnxGraph, initializers: readonly OnnxInitializer[]) {
  const all = [...constants, ...initializers];
  return encodeOnnxModel({name: 'decoder', nodes, inputs, outputs, initializers: all, opsets});
}

async function writeRegions(regions: ReadonlyMap<string, Region>, folder: string): Promise<number> {
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(regions)));
  await writeFile(path.join(folder, regionsFileName), bytes);
  return bytes.length;
}

/** Where a weight lies in the file, in bytes. */
interface Region {
  offset: number;
  length: number;
}

function initializerOf({name, type, dims}: ExternalWeight, region: Region): OnnxInitializer {
  return {name, type, dims, data: {file: weightFileName, ...region}};
}

class RegionWriter {
  position = 0;
  readonly #handle: FileHandle;
  readonly regions = new Map<string, Region>();

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(weight: ExternalWeight): Promise<OnnxInitializer> {
    const region = this.regions.get(weight.content) ?? (await this.#append(await weight.makeData()));
    this.regions.set(weight.content, region);
    return initializerOf(weight, region);
  }

  async #append(data: ArrayBufferView): Promise<Region> {
    const offset = Math.ceil(this.position / regionAlignment) * regionAlignment;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    this.position = offset + bytes.length;
    return {offset, length: bytes.length};
  }
}
