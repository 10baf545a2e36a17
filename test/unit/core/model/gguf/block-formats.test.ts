import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  blockBitsOf,
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
  const types = ['Q4_0', 'Q4_1', 'Q5_0', 'Q8_0'] as const;
  test.skipIf(!hasSharedData).each(types)('%s', (type) => {
    const recorded = JSON.parse(readFileSync(path.join(sharedFolder, 'models-tiny', 'ggml-blocks.json'), 'utf8'));
    for (const {hex, values} of recorded[type].blocks) {
      const floats = toFloats(type, Uint8Array.from(Buffer.from(hex, 'hex')));
      expect(floats).toHaveLength(values.length);
      floats.forEach((value, index) => {
        expect(value).toBeCloseTo(values[index], 5 - Math.ceil(Math.log10(Math.abs(values[index]) + 1)));
      });
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

test('float types are no block types', () => {
  const kinds: [GgmlTypeName, number | null][] = [
    ['F32', null],
    ['F16', null],
    ['BF16', null],
    ['Q4_0', 4],
    ['Q8_0', 8],
  ];
  for (const [type, bits] of kinds) expect(blockBitsOf(type)).toBe(bits);
});
