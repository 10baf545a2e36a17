/**
 * Writes a built graph as two files, `model.onnx` and `weights.bin`. The library maps the weights into memory when it
 * loads the graph, so neither building nor loading holds them twice.
 */
import {type FileHandle, open, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExternalWeight, OnnxGraph} from './onnx-graph.ts';
import {encodeOnnxModel, type OnnxInitializer} from './onnx-proto.ts';

export const modelFileName = 'model.onnx';
export const weightFileName = 'weights.bin';

/** Regions begin at page borders, so that each can be mapped. */
const regionAlignment = 4096;

const opsets = {'': 21, 'com.microsoft': 1};

/**
 * @param onProgress called with the part that is done, 0..1
 * @returns bytes of each file
 */
export async function writeModel(
  graph: OnnxGraph,
  folder: string,
  onProgress: (fraction: number) => void,
): Promise<Record<string, number>> {
  const {initializers, numBytes} = await writeWeights(graph.weights, path.join(folder, weightFileName), onProgress);
  const bytes = encodeOnnxModel({
    name: 'decoder',
    nodes: graph.nodes,
    inputs: graph.inputs,
    outputs: graph.outputs,
    initializers: [...graph.constants, ...initializers],
    opsets,
  });
  await writeFile(path.join(folder, modelFileName), bytes);
  return {[modelFileName]: bytes.length, [weightFileName]: numBytes};
}

async function writeWeights(weights: readonly ExternalWeight[], file: string, onProgress: (fraction: number) => void) {
  const handle = await open(file, 'wx');
  try {
    const writer = new RegionWriter(handle);
    const initializers: OnnxInitializer[] = [];
    for (const [index, weight] of weights.entries()) {
      initializers.push(await writer.write(weight));
      onProgress((index + 1) / weights.length);
    }
    await handle.sync();
    return {initializers, numBytes: writer.position};
  } finally {
    await handle.close();
  }
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
