import {describe, expect, it} from 'vitest';
import {lineOutput, overBar} from '../../../src/cli/terminal-output.ts';
import type {LoadProgress} from '../../../src/core/llm.ts';

describe('lineOutput', () => {
  it('writes a line per stage, and one every ten seconds of a long stage', () => {
    const lines: string[] = [];
    let seconds = 0;
    const output = lineOutput(
      {stream: process.stderr, showsProgress: true, writeLine: (line) => lines.push(line)},
      () => seconds,
    );
    const report = (at: number, stage: LoadProgress['stage'], fraction: number, detail = '') => {
      seconds = at;
      output.report({stage, fraction, detail});
    };
    report(0, 'build', 0, 'model.gguf');
    report(1, 'build', 0.05);
    report(9.9, 'build', 0.4);
    report(10, 'build', 0.417);
    report(11, 'build', 1);
    report(11, 'load', 0);
    report(12, 'load', 1);
    expect(lines).toEqual(['build 0 % model.gguf', 'build 41 %', 'load 0 %']);
  });
});

describe('overBar', () => {
  it('lets a long line wrap, and erases what is left of a bar behind it', () => {
    const escapeCode = String.fromCharCode(27);
    expect(overBar('a long line\n')).toBe(`${escapeCode}[?7ha long line${escapeCode}[K\n${escapeCode}[?7l`);
  });
});
