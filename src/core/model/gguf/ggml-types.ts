/** The block types of GGUF tensors: number in the file, name, weights and bytes of one block. */

export interface GgmlType {
  name: GgmlTypeName;
  /** Weights of one block. */
  blockSize: number;
  /** Bytes of one block in the file. */
  blockBytes: number;
}

const table = [
  [0, 'F32', 1, 4],
  [1, 'F16', 1, 2],
  [2, 'Q4_0', 32, 18],
  [3, 'Q4_1', 32, 20],
  [6, 'Q5_0', 32, 22],
  [7, 'Q5_1', 32, 24],
  [8, 'Q8_0', 32, 34],
  [10, 'Q2_K', 256, 84],
  [11, 'Q3_K', 256, 110],
  [12, 'Q4_K', 256, 144],
  [13, 'Q5_K', 256, 176],
  [14, 'Q6_K', 256, 210],
  [16, 'IQ2_XXS', 256, 66],
  [17, 'IQ2_XS', 256, 74],
  [18, 'IQ3_XXS', 256, 98],
  [19, 'IQ1_S', 256, 50],
  [20, 'IQ4_NL', 32, 18],
  [21, 'IQ3_S', 256, 110],
  [22, 'IQ2_S', 256, 82],
  [23, 'IQ4_XS', 256, 136],
  [29, 'IQ1_M', 256, 56],
  [30, 'BF16', 1, 2],
  [34, 'TQ1_0', 256, 54],
  [35, 'TQ2_0', 256, 66],
  [39, 'MXFP4', 32, 17],
] as const;

export type GgmlTypeName = (typeof table)[number][1];

const typesByNumber: ReadonlyMap<number, GgmlType> = new Map(
  table.map(([number, name, blockSize, blockBytes]) => [number, {name, blockSize, blockBytes}]),
);

/** Names of the types that can be read, for messages. */
export const supportedGgmlTypes: readonly GgmlTypeName[] = table.map(([, name]) => name);

/** @returns the type, or undefined when it cannot be read (yet) */
export function ggmlTypeOf(number: number): GgmlType | undefined {
  return typesByNumber.get(number);
}
