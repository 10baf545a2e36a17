import {describe, expect, it} from 'vitest';
import {createLogger, type LoggerOptions} from '../../../src/cli/create-logger.ts';
import {EngineDeadError} from '../../../src/core/errors.ts';

function logged(options: Partial<LoggerOptions>, use: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  use(createLogger({logLevel: 'info', logFormat: 'auto', isTerminal: false, hasColour: false, write, ...options}));
  return text;
}

describe('createLogger', () => {
  it('writes one JSON object per line outside a terminal', () => {
    const text = logged({}, (logger) => logger.warn({requestId: 'a'}, 'slow'));
    expect(JSON.parse(text)).toEqual({level: 'warn', time: expect.any(String), requestId: 'a', msg: 'slow'});
    expect(text).toMatch(/^\{.*\}\n$/);
  });

  it('writes readable lines in a terminal', () => {
    expect(logged({isTerminal: true}, (logger) => logger.info({requestId: 'a'}, 'done'))).toMatch(
      /^\[\d\d:\d\d:\d\d\] INFO: done \{"requestId":"a"\}\n$/,
    );
  });

  it.each([
    ['json', true, /^\{/],
    ['text', false, /^\[/],
  ] as const)('writes %s when told to, with a terminal: %s', (logFormat, isTerminal, expected) => {
    expect(logged({logFormat, isTerminal}, (logger) => logger.info({}, 'x'))).toMatch(expected);
  });

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warning', ['warn', 'error']],
    ['error', ['error']],
    ['critical', []],
  ] as const)('level %s shows %j', (logLevel, expected) => {
    const text = logged({logLevel}, (logger) => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({}, level);
    });
    const messages = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).msg);
    expect(messages).toEqual(expected);
  });

  it('writes the stack of an error', () => {
    const text = logged({isTerminal: true}, (logger) => logger.error({err: new Error('broken')}, 'failed'));
    expect(text).toMatch(/ERROR: failed[\s\S]*broken[\s\S]*create-logger\.test/);
  });

  it('keeps what a client sent from passing for a line, or for control codes of the terminal', () => {
    const forged = 'ids\n[12:00:00] INFO: forged\r\u001b[2J\u009b\u202e';
    const text = logged({isTerminal: true}, (logger) => logger.info({id: forged}, forged));
    expect(text.split('\n').filter((line) => line.startsWith('['))).toHaveLength(1);
    expect(text).toContain('ids\n    [12:00:00] INFO: forged\\u000d\\u001b[2J\\u009b\\u202e');
    expect(text).not.toMatch(/[\u001b\r]/);
    expect(JSON.parse(logged({}, (logger) => logger.info({}, forged))).msg).toBe(forged);
  });

  it('writes why an engine is gone, and no stack', () => {
    const cause = new EngineDeadError('process 7 was ended by SIGKILL');
    const err = new EngineDeadError('The server had an error while processing your request.', {cause});
    const line = JSON.parse(logged({}, (logger) => logger.error({err}, 'request failed')));
    expect(line.err).toEqual({type: 'EngineDeadError', message: 'process 7 was ended by SIGKILL'});
    expect(logged({isTerminal: true}, (logger) => logger.error({err}, 'request failed'))).not.toContain(' at ');
  });
});
