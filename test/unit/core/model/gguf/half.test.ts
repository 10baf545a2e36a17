/** Numbers become the nearest halves. */
import {expect, test} from 'vitest';
import {halvesToFloats, toHalves} from '../../../../../src/core/model/gguf/half.ts';

/** Every positive finite half, ascending. */
const allHalves = Uint16Array.from({length: 0x7c00}, (_, bits) => bits);
const allFloats = halvesToFloats(new Uint8Array(allHalves.buffer));

test('every half comes back as it was', () => {
  expect(toHalves(allFloats)).toEqual(allHalves);
  expect(toHalves(allFloats.map((value) => -value))).toEqual(allHalves.map((bits) => bits | 0x8000));
});

test('numbers between two halves go to the nearer one, ties to the even one', () => {
  const middles = Float32Array.from(
    allFloats.subarray(1),
    (value, index) => (value + (allFloats[index] as number)) / 2,
  );
  const even = Uint16Array.from(middles, (_, index) => (index % 2 === 0 ? index : index + 1));
  expect(toHalves(middles)).toEqual(even);
  const nudge = (factor: number) => toHalves(middles.map((value) => value * factor));
  expect(nudge(1 + 2 ** -20)).toEqual(allHalves.subarray(1));
  expect(nudge(1 - 2 ** -20)).toEqual(allHalves.subarray(0, -1));
});

test('what halves cannot hold', () => {
  const values = [65_519, 65_520, 1e30, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-30, 1e-42];
  expect(Array.from(toHalves(Float32Array.from(values)))).toEqual([0x7bff, 0x7c00, 0x7c00, 0x7c00, 0xfc00, 0, 0]);
  expect(halvesToFloats(new Uint8Array(toHalves(Float32Array.of(Number.NaN)).buffer))[0]).toBeNaN();
});
