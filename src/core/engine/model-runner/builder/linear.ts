/**
 * Matrix products with weights of any type. Several matrices of the same input become one packed product. Quantized
 * blocks keep the bits of the file: the integer product does the work, and a small second product adds the part of a
 * block that does not depend on its bits (see `block-formats.ts`).
 */
import {type BlockLayout, roundedZeroPoints} from '../../../model/gguf/block-formats.ts';
import type {KvType} from '../kv-memory.ts';
import {microsoftDomain, type OnnxGraph, type Value} from './onnx-graph.ts';
import {matrixShape, packTogether, type WeightSource, type WeightTensor} from './weight-source.ts';

export interface LinearOptions {
  weightMapping: 'exact' | 'rounded';
  activationPrecision: 'int8' | 'float32';
  /** Of activations, cache and all weights that are no blocks. */
  floatType: KvType;
  /** The graph runs on the CPU, so that operators which only its provider has may be used. */
  isForCpu: boolean;
}

/** `accuracy_level` of MatMulNBits: activations as they are, or rounded to 8 bits per block. */
const accuracyLevels = {float32: 1, int8: 4} as const;

export class LinearBuilder {
  readonly #graph: OnnxGraph;
  readonly #source: WeightSource;
  readonly #options: LinearOptions;
  /** Sums of each block of activations, by the value and the block size they were taken of. */
  readonly #blockSums = new Map<string, Value>();
  /** Operators that only the CPU's provider has may be used. */
  readonly isForCpu: boolean;
  /** Inputs of two dimensions; all others have three. */
  readonly #flatValues = new Set<Value>();

  constructor(graph: OnnxGraph, source: WeightSource, options: LinearOptions) {
    this.#graph = graph;
    this.#source = source;
    this.#options = options;
    this.isForCpu = options.isForCpu;
  }

  /**
   * @param input `[…, columns]`
   * @param tensorNames matrices of the same number of columns; a bias of the same name is added
   * @returns `[…, sum of their rows]`
   */
  product(result: Value, input: Value, tensorNames: readonly string[]): Value {
    return this.productOf(
      result,
      input,
      tensorNames.map((name) => this.#source.tensor(name)),
    );
  }

  /** The same with tensors of the source. */
  productOf(result: Value, input: Value, tensors: readonly WeightTensor[]): Value {
    const bias = this.#bias(result, tensors);
    if (bias === null) return this.#packedProduct(result, input, tensors);
    const unbiased = this.#packedProduct(`${result}.unbiased`, input, tensors);
    return this.#graph.node('Add', result, [unbiased, bias]);
  }

  /** Declares an input of products to be `[rows, columns]` instead of `[batch, sequence, columns]`. */
  markFlat(value: Value): Value {
    this.#flatValues.add(value);
    return value;
  }

  /** One number for each row of all matrices; null when none has a bias. */
  #bias(result: Value, tensors: readonly WeightTensor[]): Value | null {
    const biasOf = ({name}: WeightTensor) => name.replace(/weight$/, 'bias');
    if (!tensors.some((tensor) => this.#source.has(biasOf(tensor)))) return null;
    const parts = tensors.map((tensor) => {
      const numRows = matrixShape(tensor).rows;
      return this.#source.has(biasOf(tensor)) ? this.#source.tensor(biasOf(tensor)) : numRows;
    });
    const {rows} = sharedShape(tensors);
    return this.#graph.floats(`${result}.bias`, [rows], async () => {
      const floats = new Float32Array(rows);
      let at = 0;
      for (const part of parts) {
        if (typeof part !== 'number') floats.set(await this.#source.floats([part]), at);
        at += typeof part === 'number' ? part : part.shape.reduce((product, size) => product * size, 1);
      }
      return floats;
    });
  }

  #packedProduct(result: Value, input: Value, tensors: readonly WeightTensor[]): Value {
    const packs = packNeighbours(tensors);
    if (packs.length === 1) return this.#onePack(result, input, tensors);
    const parts = packs.map((pack) => this.#onePack(`${result}.${pack[0]?.name}`, input, pack));
    return this.#graph.node('Concat', result, parts, {axis: -1});
  }

  #onePack(result: Value, input: Value, pack: readonly WeightTensor[]): Value {
    const layout = pack[0]?.layout ?? null;
    return layout ? this.#blockProduct(result, input, pack, layout) : this.#floatProduct(result, input, pack);
  }

  #floatProduct(result: Value, input: Value, tensors: readonly WeightTensor[]): Value {
    const {rows, columns} = sharedShape(tensors);
    const weight = this.#graph.floats(`${result}.weight`, [columns, rows], async () =>
      transpose(await this.#source.floats(tensors), rows, columns),
    );
    return this.#graph.node('MatMul', result, [input, weight]);
  }

  #blockProduct(
    result: Value,
    input: Value,
    tensors: readonly WeightTensor[],
    {bits, blockSize}: Pick<BlockLayout, 'bits' | 'blockSize'>,
  ): Value {
    const {rows, columns} = sharedShape(tensors);
    const blocksPerRow = columns / blockSize;
    const blocks = () => this.#source.blocks(tensors);
    const {quants, scales} = addBlockWeights(this.#graph, this.#source, result, tensors, {
      quants: [rows, blocksPerRow, (bits * blockSize) / 8],
      scales: [rows * blocksPerRow],
    });
    const attributes = {
      K: columns,
      N: rows,
      bits,
      block_size: blockSize,
      accuracy_level: accuracyLevels[this.#options.activationPrecision],
    };
    const multiply = (name: Value, inputs: Value[]) =>
      this.#graph.node('MatMulNBits', name, inputs, attributes, microsoftDomain);

    if (!tensors.some(({layout}) => layout?.hasCorrections)) return multiply(result, [input, quants, scales]);
    if (this.#options.weightMapping === 'rounded' && bits === 4) {
      const zeroPoints = this.#graph.weight(
        `${result}.zero_points`,
        'uint8',
        [rows * Math.ceil(blocksPerRow / 2)],
        async () => roundedZeroPoints(await blocks(), blocksPerRow),
      );
      return multiply(result, [input, quants, scales, zeroPoints]);
    }
    const corrections = this.#graph.floats(`${result}.corrections`, [blocksPerRow, rows], async () =>
      transpose((await blocks()).corrections as Float32Array, rows, blocksPerRow),
    );
    const main = multiply(`${result}.main`, [input, quants, scales]);
    const correction = this.#graph.node('MatMul', `${result}.correction`, [
      this.#blockSumOf(input, columns, blockSize),
      corrections,
    ]);
    return this.#graph.node('Add', result, [main, correction]);
  }

  /** `[…, columns]` -> `[…, columns / blockSize]`; products of the same input share it. */
  #blockSumOf(input: Value, columns: number, blockSize: number): Value {
    const key = `${input}.blocks_of_${blockSize}`;
    const known = this.#blockSums.get(key);
    if (known) return known;
    const graph = this.#graph;
    const kept = this.#flatValues.has(input) ? [0] : [0, 0];
    const name = `${kept.length}.${columns}.${blockSize}`;
    const blocksPerRow = columns / blockSize;
    const shape = graph.int64Constant(`shape.blocks.${name}`, [...kept, blocksPerRow, blockSize]);
    const inBlocks = graph.node('Reshape', key, [input, shape]);
    const reduced = graph.node('ReduceSum', `${key}.reduced`, [inBlocks, graph.int64Constant('axis.last', [-1])], {
      keepdims: 0,
    });
    // Of no rows at all, as the head may have, the operator gives a value of the wrong rank.
    const sums = graph.node('Reshape', `${key}.sums`, [
      reduced,
      graph.int64Constant(`shape.block_sums.${name}`, [...kept, blocksPerRow]),
    ]);
    this.#blockSums.set(key, sums);
    return sums;
  }
}

/**
 * The bits and scales of quantized tensors as weights of the graph. A tied embedding and head ask for the same tensor in
 * different dimensions and share its bytes.
 */
export function addBlockWeights(
  graph: OnnxGraph,
  source: WeightSource,
  name: string,
  tensors: readonly WeightTensor[],
  dims: {quants: readonly number[]; scales: readonly number[]},
): {quants: Value; scales: Value} {
  const content = tensors.map((tensor) => tensor.name).join('+');
  const blocks = () => source.blocks(tensors);
  return {
    quants: graph.weight(
      `${name}.quants`,
      'uint8',
      dims.quants,
      async () => (await blocks()).quants,
      `${content}.quants`,
    ),
    scales: graph.floats(`${name}.scales`, dims.scales, async () => (await blocks()).scales, `${content}.scales`),
  };
}

/** Runs of matrices that can be one product each. */
function packNeighbours(tensors: readonly WeightTensor[]): WeightTensor[][] {
  const packs: WeightTensor[][] = [];
  for (const tensor of tensors) {
    const last = packs.at(-1);
    if (last && packTogether(last[0] as WeightTensor, tensor)) last.push(tensor);
    else packs.push([tensor]);
  }
  return packs;
}

function sharedShape(tensors: readonly WeightTensor[]): {rows: number; columns: number} {
  const shapes = tensors.map(matrixShape);
  return {rows: shapes.reduce((sum, shape) => sum + shape.rows, 0), columns: shapes[0]?.columns ?? 0};
}

/** `[rows, columns]` -> `[columns, rows]` */
function transpose(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = matrix[row * columns + column] as number;
    }
  }
  return result;
}
