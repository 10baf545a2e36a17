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
  [30, 'BF16', 1, 2],
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
