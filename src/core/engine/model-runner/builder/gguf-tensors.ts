/** The tensors of a GGUF file for the graph: blocks keep their bits, floats stay floats. */

import {ModelError} from '../../../errors.ts';
import {type BlockMatrix, blockLayoutOf, toBlockMatrix, toFloats} from '../../../model/gguf/block-formats.ts';
import type {GgufFile} from '../../../model/gguf/gguf-file.ts';
import type {TensorReader, WeightTensor} from './weight-source.ts';

export class GgufTensors implements TensorReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, WeightTensor>;
  readonly #file: GgufFile;

  constructor(file: GgufFile) {
    this.path = file.path;
    this.#file = file;
    this.tensors = new Map(
      [...file.tensors.values()].map(({name, shape, type}) => [name, {name, shape, layout: blockLayoutOf(type.name)}]),
    );
  }

  async readFloats({name}: WeightTensor): Promise<Float32Array> {
    const tensor = this.#file.tensor(name);
    return toFloats(tensor.type.name, await this.#file.readTensor(tensor));
  }

  async readBlocks({name}: WeightTensor): Promise<BlockMatrix> {
    const tensor = this.#file.tensor(name);
    return toBlockMatrix(tensor.type.name, await this.#file.readTensor(tensor));
  }

  missing(name: string): ModelError {
    return new ModelError(
      `${this.path} has no tensor "${name}", which this architecture (${this.#file.architecture}) needs.`,
    );
  }
}
