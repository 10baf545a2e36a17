import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  blockLayoutOf,
  quantizeFloats,
  roundedZeroPoints,
  toBlockMatrix,
  toFloats,
} from '../../../../../src/core/model/gguf/block-formats.ts';
import type {GgmlTypeName} from '../../../../../src/core/model/gguf/ggml-types.ts';
import {bfloat16ToFloats, halvesToFloats} from '../../../../../src/core/model/gguf/half.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';

/** A Q4_1 block: scale 2, minimum -6, quants 0..15 twice. */
const q41Block = Uint8Array.of(0x00, 0x40, 0x00, 0xc6, ...Array.from({length: 16}, (_, index) => index | (index << 4)));

describe('recorded blocks', () => {
  const types = [
    ...(['Q4_0', 'Q4_1', 'Q5_0', 'Q8_0', 'Q2_K', 'Q3_K', 'Q4_K', 'Q6_K', 'TQ1_0', 'TQ2_0', 'MXFP4'] as const),
    ...(['IQ1_S', 'IQ1_M', 'IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ3_XXS', 'IQ3_S', 'IQ4_NL', 'IQ4_XS'] as const),
  ];
  test.skipIf(!hasSharedData).each(types)('%s', (type) => {
    const recorded = JSON.parse(readFileSync(path.join(sharedFolder, 'models-tiny', 'ggml-blocks.json'), 'utf8'));
    for (const {hex, values} of recorded[type].blocks) {
      const floats = toFloats(type, Uint8Array.from(Buffer.from(hex, 'hex')));
      expect(floats).toHaveLength(values.length);
      // Seven digits are recorded.
      const farOff = [...floats].filter(
        (value, index) => Math.abs(value - values[index]) > 1e-6 * Math.abs(values[index]),
      );
      expect(farOff).toEqual([]);
    }
  });
});

test('a block with a minimum keeps its bits and moves the rest into the correction', () => {
  const matrix = toBlockMatrix('Q4_1', q41Block);
  expect(matrix.scales).toEqual(Float32Array.of(2));
  expect(matrix.corrections).toEqual(Float32Array.of(-6 + 8 * 2));
  expect([...matrix.quants.subarray(0, 4)]).toEqual([0x10, 0x32, 0x54, 0x76]);
  expect([...toFloats('Q4_1', q41Block).subarray(0, 4)]).toEqual([-6, -4, -2, 0]);
});

test('a block with five bits and a minimum', () => {
  const block = new Uint8Array(24);
  block.set([0x00, 0x3c, 0x00, 0x40]); // scale 1, minimum 2
  block.set([0x01, 0, 0, 0x80], 4); // fifth bit of elements 0 and 31
  block[8] = 0x03; // element 0 = 3, element 16 = 0
  block[23] = 0xf0; // element 15 = 0, element 31 = 15
  const floats = toFloats('Q5_1', block);
  expect([floats[0], floats[1], floats[16], floats[31]]).toEqual([3 + 16 + 2, 2, 2, 15 + 16 + 2]);
});

test('rounded zero points are the nearest whole ones, two to a byte and rows apart', () => {
  const three = Uint8Array.of(...q41Block, ...q41Block, ...q41Block);
  expect([...roundedZeroPoints(toBlockMatrix('Q4_1', three), 3)]).toEqual([0x33, 0x03]);
  expect([...roundedZeroPoints(toBlockMatrix('Q4_1', three), 1)]).toEqual([3, 3, 3]);
});

test('floats of 16 bits', () => {
  expect([...halvesToFloats(Uint8Array.of(0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc))]).toEqual([
    1,
    2 ** -24,
    Number.NEGATIVE_INFINITY,
  ]);
  expect([...bfloat16ToFloats(Uint8Array.of(0x80, 0x3f, 0x20, 0xc1))]).toEqual([1, -10]);
});

test('a K block with five bits, a scale and a minimum for each group of 32', () => {
  const block = new Uint8Array(176);
  block.set([0x00, 0x3c, 0x00, 0x38]); // scale 1, minimum 0.5
  block[4] = 2; // group 0: scale 2
  block[8] = 6; // group 0: minimum 6
  block[4 + 8] = 0x53; // group 4: scale 3, minimum 5
  block[16] = 0b00010001; // fifth bit of elements 0 and 128
  block[48] = 0x04; // element 0 = 4, element 32 = 0
  block[48 + 64] = 0x0f; // element 128 = 15
  const floats = toFloats('Q5_K', block);
  expect([floats[0], floats[1], floats[32], floats[128], floats[129]]).toEqual([2 * 20 - 3, -3, 0, 3 * 31 - 2.5, -2.5]);
});

test('floats are rounded to blocks whose largest magnitude is exact', () => {
  const floats = Float32Array.from({length: 64}, (_, index) => (index < 32 ? (index - 20) / 4 : 0));
  const four = quantizeFloats(floats, 4);
  expect(four).toMatchObject({bits: 4, blockSize: 32, numBlocks: 2, corrections: null});
  expect([...four.scales]).toEqual([0.625, 0]);
  expect(four.quants[0]).toBe(0x00 | (0x0 << 4));
  const eight = quantizeFloats(floats, 8);
  const restored = Array.from(
    {length: 32},
    (_, index) => ((eight.quants[index] as number) - 128) * (eight.scales[0] as number),
  );
  restored.forEach((value, index) => {
    expect(Math.abs(value - (floats[index] as number))).toBeLessThanOrEqual((eight.scales[0] as number) / 2 + 1e-6);
  });
});

test('float types are no block types', () => {
  const kinds: [GgmlTypeName, number | undefined][] = [
    ['F32', undefined],
    ['F16', undefined],
    ['BF16', undefined],
    ['Q4_0', 4],
    ['Q8_0', 8],
  ];
  for (const [type, bits] of kinds) expect(blockLayoutOf(type)?.bits).toBe(bits);
});
