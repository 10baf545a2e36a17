import os from 'node:os';
import {describe, expect, it} from 'vitest';
import {parseOptions} from '../../../../bench/engine/options.ts';

describe('parseOptions', () => {
  it('measures everything on all cores by default', () => {
    const {parts, threads, isQuick, workload, build} = parseOptions([]);
    expect({parts, threads, isQuick, rounds: workload.rounds, build}).toEqual({
      parts: ['loop', 'http'],
      threads: os.availableParallelism(),
      isQuick: false,
      rounds: 3,
      build: true,
    });
  });

  it('takes what is given', () => {
    const options = parseOptions(['--only', 'http', '--quick', '--rounds', '2', '--threads', '4', '--no-build']);
    expect(options).toMatchObject({parts: ['http'], threads: 4, isQuick: true, workload: {rounds: 2}, build: false});
  });

  it.each([
    {argv: ['--only', 'chat'], message: '--only must be "loop" or "http", not "chat"'},
    {argv: ['--threads', '0'], message: '--threads must be a whole number above 0, not "0"'},
    {argv: ['--rounds', '1.5'], message: '--rounds must be a whole number above 0, not "1.5"'},
    {argv: ['--quik'], message: "Unknown option '--quik'"},
  ])('refuses $argv', ({argv, message}) => {
    expect(() => parseOptions(argv)).toThrow(message);
  });
});
