import {describe, expect, it} from 'vitest';
import {packedExperts} from '../../../../../src/core/engine/model-runner/builder/packed-experts.ts';
import type {SafetensorsTensor} from '../../../../../src/core/model/safetensors/safetensors-file.ts';

const prefix = 'model.layers.3.mlp.experts';
const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6];

function tensor(name: string, type: SafetensorsTensor['type'], shape: number[], bytes: Uint8Array) {
  return {tensor: {name: `${prefix}.${name}`, type, shape, offset: 0, numBytes: bytes.length}, bytes};
}

function read(...given: ReturnType<typeof tensor>[]) {
  const bytesOf = new Map(given.map(({tensor: {name}, bytes}) => [name, bytes]));
  return packedExperts(
    given.map((entry) => entry.tensor),
    async ({name}) => bytesOf.get(name)!,
  );
}

describe('packedExperts', () => {
  it('takes MXFP4 rows apart: even ones are the gate, odd ones go up', async () => {
    const [numExperts, numRows, blocksPerRow] = [2, 4, 2];
    const numBlocks = numExperts * numRows * blocksPerRow;
    const blocks = Uint8Array.from({length: numBlocks * 16}, (_, at) => (at * 37 + 11) % 256);
    const scales = Uint8Array.from({length: numBlocks}, (_, at) => 120 + (at % 9));
    const experts = read(
      tensor('gate_up_proj_blocks', 'U8', [numExperts, numRows, blocksPerRow, 16], blocks),
      tensor('gate_up_proj_scales', 'U8', [numExperts, numRows, blocksPerRow], scales),
    );
    const expected = (expert: number, row: number, column: number) => {
      const block = (expert * numRows + row) * blocksPerRow + (column >> 5);
      const nibble = (blocks[block * 16 + ((column % 32) >> 1)]! >> (4 * (column & 1))) & 15;
      return e2m1[nibble]! * 2 ** (scales[block]! - 127);
    };
    for (const [name, first] of [
      ['ffn_gate_exps', 0],
      ['ffn_up_exps', 1],
    ] as const) {
      const derived = experts.get(`blk.3.${name}.weight`)!;
      expect(derived).toMatchObject({shape: [64, 2, 2], isBlocks: true});
      const floats = await derived.readFloats();
      for (const [at, value] of floats.entries()) {
        const [expert, row, column] = [Math.floor(at / 128), Math.floor(at / 64) % 2, at % 64];
        expect(value + 0).toBe(expected(expert, first + 2 * row, column) + 0);
      }
    }
  });

  it('turns float matrices around and takes biases apart', async () => {
    const floats = Float32Array.from({length: 2 * 3 * 4}, (_, at) => at);
    const bytes = new Uint8Array(floats.buffer);
    const experts = read(
      tensor('gate_up_proj', 'F32', [2, 3, 4], bytes),
      tensor('down_proj', 'F32', [2, 3, 4], bytes),
      tensor('gate_up_proj_bias', 'F32', [4, 6], bytes),
    );
    const floatsOf = async (name: string) => Array.from(await experts.get(`blk.3.${name}`)!.readFloats());
    expect(await floatsOf('ffn_gate_exps.weight')).toEqual([0, 4, 8, 2, 6, 10, 12, 16, 20, 14, 18, 22]);
    expect(await floatsOf('ffn_up_exps.weight')).toEqual([1, 5, 9, 3, 7, 11, 13, 17, 21, 15, 19, 23]);
    expect((await floatsOf('ffn_down_exps.weight')).slice(0, 6)).toEqual([0, 4, 8, 1, 5, 9]);
    expect(await floatsOf('ffn_up_exps.bias')).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]);
    expect(experts.get('blk.3.ffn_gate_exps.bias')!.shape).toEqual([3, 4]);
  });

  it.each([
    [
      [2, 3, 2, 16],
      [2, 3, 2],
    ],
    [
      [2, 4, 2, 8],
      [2, 4, 2],
    ],
    [
      [2, 4, 2, 16],
      [2, 4, 1],
    ],
    [[64], [2]],
  ])('refuses shapes that are none: %j', (blocks, scales) => {
    const sizeOf = (shape: number[]) => new Uint8Array(shape.reduce((product, size) => product * size, 1));
    const given = [
      tensor('gate_up_proj_blocks', 'U8', blocks, sizeOf(blocks)),
      tensor('gate_up_proj_scales', 'U8', scales, sizeOf(scales)),
    ];
    expect(() => read(...given)).toThrow(/gate_up_proj_blocks/);
  });
});
