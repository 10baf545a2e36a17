import {EventEmitter} from 'node:events';
import {describe, expect, it} from 'vitest';
import {exitOnSignals, type Stoppable, waitForEnd} from '../../../src/cli/server-lifetime.ts';
import {silentLogger} from '../../../src/core/util/logger.ts';

type End = Awaited<Stoppable['closed']>;

class Exit extends Error {}

/** A server whose end the test decides, and a process whose signals it sends. */
function setUp({isTerminal = true} = {}) {
  const events = new EventEmitter();
  const exitCodes: number[] = [];
  const exit = (code?: number | string | null) => {
    exitCodes.push(Number(code));
    throw new Exit();
  };
  const stops: string[] = [];
  let close!: (end: End) => void;
  const closed = new Promise<End>((resolve) => {
    close = resolve;
  });
  const server = {closed, stop: async (reason: string) => void stops.push(reason)};
  const process = {on: events.on.bind(events), off: events.off.bind(events), exit} as never;
  const ended = waitForEnd(server, {logger: silentLogger, isTerminal, process});
  return {events, exitCodes, stops, close, ended};
}

describe('waitForEnd', () => {
  it('stops on the first signal and ends with 0', async () => {
    const {events, stops, close, ended} = setUp();
    events.emit('SIGTERM', 'SIGTERM');
    expect(stops).toEqual(['SIGTERM']);
    close({reason: 'stopped'});
    expect(await ended).toBe(0);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('ends at once on a second signal: %s', (signal, code) => {
    const {events, exitCodes, stops} = setUp();
    events.emit('SIGINT', 'SIGINT');
    expect(() => events.emit(signal, signal)).toThrow(Exit);
    expect(exitCodes).toEqual([code]);
    expect(stops).toEqual(['SIGINT']);
  });

  it('ends with 1 when the engine dies', async () => {
    const {close, ended} = setUp();
    close({reason: 'engine-death', error: new Error('killed')});
    expect(await ended).toBe(1);
  });

  it('stops and ends with 1 after an error that nobody caught', async () => {
    const {events, stops, ended} = setUp();
    events.emit('uncaughtException', new Error('a bug'));
    expect(await ended).toBe(1);
    expect(stops).toEqual(['unexpected error']);
  });

  it.each([
    [true, ['SIGHUP']],
    [false, []],
  ])('with a terminal: %s, SIGHUP stops for %j', (isTerminal, expected) => {
    const {events, stops} = setUp({isTerminal});
    events.emit('SIGHUP', 'SIGHUP');
    expect(stops).toEqual(expected);
  });

  it('takes its handlers off at the end', async () => {
    const {events, close, ended} = setUp();
    close({reason: 'stopped'});
    await ended;
    expect(events.eventNames()).toEqual([]);
  });
});

describe('exitOnSignals', () => {
  it('cleans up and ends at once, until it is taken off', () => {
    const events = new EventEmitter();
    const steps: unknown[] = [];
    const process = {
      on: events.on.bind(events),
      off: events.off.bind(events),
      exit: (code: number) => steps.push(code),
    };
    const release = exitOnSignals(process as never, () => steps.push('clean'));
    events.emit('SIGINT', 'SIGINT');
    events.emit('SIGTERM', 'SIGTERM');
    expect(steps).toEqual(['clean', 130, 'clean', 143]);
    release();
    expect(events.eventNames()).toEqual([]);
  });
});
