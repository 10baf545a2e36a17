/**
 * Matrix products with weights of any type. Several matrices of the same input become one packed product. Quantized
 * blocks keep the bits of the file: the integer product does the work, and a small second product adds the part of a
 * block that does not depend on its bits (see `block-formats.ts`).
 */
import {blockSize, hasMinimum, roundedZeroPoints} from '../../../model/gguf/block-formats.ts';
import type {GgufTensor} from '../../../model/gguf/gguf-file.ts';
import {microsoftDomain, type OnnxGraph, type Value} from './onnx-graph.ts';
import {bitsOf, matrixShape, type WeightSource} from './weight-source.ts';

export interface LinearOptions {
  weightMapping: 'exact' | 'rounded';
  activationPrecision: 'int8' | 'float32';
}

/** `accuracy_level` of MatMulNBits: activations as they are, or rounded to 8 bits per block. */
const accuracyLevels = {float32: 1, int8: 4} as const;

export class LinearBuilder {
  readonly #graph: OnnxGraph;
  readonly #source: WeightSource;
  readonly #options: LinearOptions;
  /** Sums of each block of activations, by the value they were taken of. */
  readonly #blockSums = new Map<Value, Value>();

  constructor(graph: OnnxGraph, source: WeightSource, options: LinearOptions) {
    this.#graph = graph;
    this.#source = source;
    this.#options = options;
  }

  /**
   * @param input `[…, columns]`
   * @param tensorNames matrices of the same number of columns
   * @returns `[…, sum of their rows]`
   */
  product(result: Value, input: Value, tensorNames: readonly string[]): Value {
    const tensors = tensorNames.map((name) => this.#source.tensor(name));
    const bits = tensors.map(bitsOf);
    if (bits.every((value) => value === bits[0])) {
      return bits[0] ? this.#blockProduct(result, input, tensors, bits[0]) : this.#floatProduct(result, input, tensors);
    }
    const parts = tensorNames.map((name) => this.product(`${result}.${name}`, input, [name]));
    return this.#graph.node('Concat', result, parts, {axis: -1});
  }

  #floatProduct(result: Value, input: Value, tensors: readonly GgufTensor[]): Value {
    const {rows, columns} = sharedShape(tensors);
    const weight = this.#graph.weight(`${result}.weight`, 'float32', [columns, rows], async () =>
      transpose(await this.#source.floats(tensors), rows, columns),
    );
    return this.#graph.node('MatMul', result, [input, weight]);
  }

  #blockProduct(result: Value, input: Value, tensors: readonly GgufTensor[], bits: 4 | 8): Value {
    const {rows, columns} = sharedShape(tensors);
    const blocksPerRow = columns / blockSize;
    const blocks = () => this.#source.blocks(tensors);
    const {quants, scales} = addBlockWeights(this.#graph, this.#source, result, tensors, {
      quants: [rows, blocksPerRow, bits * 4],
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

    if (!tensors.some((tensor) => hasMinimum(tensor.type.name))) return multiply(result, [input, quants, scales]);
    if (this.#options.weightMapping === 'rounded' && bits === 4) {
      const zeroPoints = this.#graph.weight(
        `${result}.zero_points`,
        'uint8',
        [rows * Math.ceil(blocksPerRow / 2)],
        async () => roundedZeroPoints(await blocks(), blocksPerRow),
      );
      return multiply(result, [input, quants, scales, zeroPoints]);
    }
    const corrections = this.#graph.weight(`${result}.corrections`, 'float32', [blocksPerRow, rows], async () =>
      transpose((await blocks()).corrections as Float32Array, rows, blocksPerRow),
    );
    const main = multiply(`${result}.main`, [input, quants, scales]);
    const correction = this.#graph.node('MatMul', `${result}.correction`, [
      this.#blockSumOf(input, columns),
      corrections,
    ]);
    return this.#graph.node('Add', result, [main, correction]);
  }

  /** `[…, columns]` -> `[…, columns / 32]`; products of the same input share it. */
  #blockSumOf(input: Value, columns: number): Value {
    const known = this.#blockSums.get(input);
    if (known) return known;
    const graph = this.#graph;
    const shape = graph.int64Constant(`shape.blocks.${columns}`, [0, 0, columns / blockSize, blockSize]);
    const lastAxis = graph.int64Constant('axis.last', [-1]);
    const inBlocks = graph.node('Reshape', `${input}.blocks`, [input, shape]);
    const sums = graph.node('ReduceSum', `${input}.block_sums`, [inBlocks, lastAxis], {keepdims: 0});
    this.#blockSums.set(input, sums);
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
  tensors: readonly GgufTensor[],
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
    scales: graph.weight(
      `${name}.scales`,
      'float32',
      dims.scales,
      async () => (await blocks()).scales,
      `${content}.scales`,
    ),
  };
}

function sharedShape(tensors: readonly GgufTensor[]): {rows: number; columns: number} {
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
