import {describe, expect, it} from 'vitest';
import type {TokenMark} from '../../../../../bench/engine/loop/loop-protocol.ts';
import {burstSpeed, decodeSpeed, prefillSpeed} from '../../../../../bench/engine/loop/token-marks.ts';

/** A stream whose tokens come at these times; a millisecond costs two of CPU. */
function marksAt(stream: number, times: number[]): TokenMark[] {
  return times.map((wallMs) => ({stream, wallMs, cpuMs: wallMs * 2}));
}

describe('prefillSpeed', () => {
  it('counts prompt tokens until the first token', () => {
    expect(prefillSpeed(marksAt(0, [250]), 100)).toEqual({value: 400, cpuMsPerToken: 5});
  });
});

describe('decodeSpeed', () => {
  it('counts from the second token of a stream to its last', () => {
    expect(decodeSpeed(marksAt(0, [500, 510, 520, 530]))).toEqual({value: 100, cpuMsPerToken: 20});
  });

  it('counts only the time in which all streams decode', () => {
    const early = marksAt(0, [100, 200, 300, 400, 410, 420]);
    const late = marksAt(1, [390, 400, 410, 420, 430, 440]);
    // Between 400, where the late one has settled, and 420, where the early one ends: two tokens of each.
    expect(decodeSpeed([...early, ...late])).toEqual({value: 200, cpuMsPerToken: 10});
  });

  it('refuses streams that never decode together', () => {
    const marks = [...marksAt(0, [1, 2, 3]), ...marksAt(1, [8, 9, 10])];
    expect(() => decodeSpeed(marks)).toThrow('never decoded at the same time');
  });
});

describe('burstSpeed', () => {
  it('counts all output tokens from the beginning to the last one', () => {
    const marks = [...marksAt(0, [100, 200]), ...marksAt(1, [150, 400])];
    expect(burstSpeed(marks)).toEqual({value: 10, cpuMsPerToken: 200});
  });
});
