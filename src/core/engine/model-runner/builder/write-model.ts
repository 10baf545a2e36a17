/**
 * Writes a built graph as two files, `model.onnx` and `weights.bin`; a second graph over the same weights adds only its own
 * file. The library maps the weights into memory when it
 * loads the graph, so neither building nor loading holds them twice.
 */
import {type FileHandle, open, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExternalWeight, OnnxGraph} from './onnx-graph.ts';
import {encodeOnnxModel, type OnnxInitializer} from './onnx-proto.ts';

export const modelFileName = 'model.onnx';
/** The graph for sequences beyond the original length, of models that have one. */
export const longModelFileName = 'model.long.onnx';
export const weightFileName = 'weights.bin';

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
    return {...sizes, [weightFileName]: writer.position};
  } finally {
    await handle.close();
  }
}

async function writeGraph(graph: OnnxGraph, initializers: readonly OnnxInitializer[], file: string): Promise<number> {
  const {nodes, inputs, outputs, constants} = graph;
  const bytes = encodeOnnxModel({
    name: 'decoder',
    nodes,
    inputs,
    outputs,
    initializers: [...constants, ...initializers],
    opsets,
  });
  await writeFile(file, bytes);
  return bytes.length;
}

class RegionWriter {
  position = 0;
  readonly #handle: FileHandle;
  readonly #regions = new Map<string, {offset: number; length: number}>();

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write({name, type, dims, content, makeData}: ExternalWeight): Promise<OnnxInitializer> {
    const region = this.#regions.get(content) ?? (await this.#append(await makeData()));
    this.#regions.set(content, region);
    return {name, type, dims, data: {file: weightFileName, ...region}};
  }

  async #append(data: ArrayBufferView): Promise<{offset: number; length: number}> {
    const offset = Math.ceil(this.position / regionAlignment) * regionAlignment;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    this.position = offset + bytes.length;
    return {offset, length: bytes.length};
  }
}
