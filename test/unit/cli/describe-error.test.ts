import {describe, expect, it} from 'vitest';
import {describeError, errorJson, errorLines} from '../../../src/cli/describe-error.ts';
import {ModelError, UsageError} from '../../../src/core/errors.ts';

const parseError = Object.assign(new Error('Unexpected argument: x\nSee more help with --help'), {oclif: {exit: 2}});

describe('describeError', () => {
  it.each([
    ['wrong use', new UsageError('bad flag'), 2],
    ['a port in use', new UsageError('port in use', {exitCode: 4}), 4],
    ['a bad model', new ModelError('no such folder'), 1],
    ['a parse error of oclif', parseError, 2],
    ['a bug of ours', new TypeError('x is undefined'), 1],
    ['something that is no error', 'text', 1],
  ])('%s', (_name, error, exitCode) => {
    expect(describeError(error).exitCode).toBe(exitCode);
  });
});

describe('errorLines', () => {
  it('says what is wrong and what to try, without a stack', () => {
    const error = new UsageError('bad flag', {hint: 'try another', cause: new Error('deep')});
    expect(errorLines(error, {showsStack: false})).toEqual(['Error: bad flag', 'try another']);
  });

  it('leaves out the line of oclif about help', () => {
    expect(errorLines(parseError, {showsStack: false})).toEqual(['Error: Unexpected argument: x']);
  });

  it('names a bug as one and how to see more', () => {
    expect(errorLines(new TypeError('x is undefined'), {showsStack: false})).toEqual([
      'Error: Internal error: x is undefined',
      'run it again with --log-level debug to see where',
    ]);
  });

  it('shows the stacks of all causes when asked for', () => {
    const text = errorLines(new ModelError('outer', {cause: new Error('inner')}), {showsStack: true}).join('\n');
    expect(text).toMatch(/outer\n\s+at [\s\S]*Caused by:\nError: inner\n\s+at /);
  });
});

it('errorJson is one document', () => {
  expect(JSON.parse(errorJson(new UsageError('bad flag')))).toEqual({
    error: {message: 'bad flag', type: 'UsageError', code: 2},
  });
});
