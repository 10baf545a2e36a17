/**
 * The time between "ready" and the end of the process. The first signal starts a graceful stop, a second one ends the
 * process at once; the end of the engine and errors of ours end it too, with exit code 1.
 */
import type {Logger} from '../core/util/logger.ts';

/** What a running server offers to the one who started it. */
export interface Stoppable {
  stop(reason: string): Promise<void>;
  readonly closed: Promise<{reason: 'stopped' | 'engine-death'; error?: Error}>;
}

export interface LifetimeContext {
  logger: Logger;
  /** SIGHUP means a closed terminal there, and is ignored elsewhere. */
  isTerminal: boolean;
  process: Pick<NodeJS.EventEmitter, 'on' | 'off'> & Pick<NodeJS.Process, 'exit'>;
}

/** 128 + number of the signal. */
const exitCodes = {SIGINT: 130, SIGTERM: 143, SIGHUP: 129} as const;

type Signal = keyof typeof exitCodes;

/** @returns the exit code: 0 after a stop that was asked for, 1 after the end of the engine or an error of ours */
export async function waitForEnd(server: Stoppable, context: LifetimeContext): Promise<number> {
  const {promise: failed, fail} = failure(server, context);
  const handlers = {...signalHandlers(server, context, fail), uncaughtException: fail};
  for (const [event, handler] of Object.entries(handlers)) context.process.on(event, handler);
  const exitCode = await Promise.race([failed, server.closed.then(exitCodeOf)]);
  for (const [event, handler] of Object.entries(handlers)) context.process.off(event, handler);
  return exitCode;
}

/**
 * Ends the process on a signal while the server still starts; the engine notices that its parent has gone.
 * @returns a function that takes the handlers off
 */
export function exitOnSignals(process: LifetimeContext['process'], beforeExit: () => void): () => void {
  const onSignal = (signal: Signal) => {
    beforeExit();
    process.exit(exitCodes[signal]);
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

function signalHandlers(server: Stoppable, context: LifetimeContext, fail: (error: Error) => void) {
  let isStopping = false;
  const onSignal = (signal: Signal) => {
    if (isStopping) context.process.exit(exitCodes[signal]);
    isStopping = true;
    context.logger.info({}, `${signal}: stopping; a second signal ends at once`);
    server.stop(signal).catch(fail);
  };
  return {SIGINT: onSignal, SIGTERM: onSignal, SIGHUP: context.isTerminal ? onSignal : () => {}};
}

/** An error that nobody caught: logged, what is open is answered, then the process ends. */
function failure(server: Stoppable, {logger}: LifetimeContext) {
  const {promise, resolve} = withResolvers<number>();
  const fail = (error: Error) => {
    logger.error({err: error}, `Unexpected error, the server ends: ${error.message}`);
    server.stop('unexpected error').then(
      () => resolve(1),
      () => resolve(1),
    );
  };
  return {promise, fail};
}

/** The server has logged what happened to its engine. */
function exitCodeOf({reason}: Awaited<Stoppable['closed']>): number {
  return reason === 'stopped' ? 0 : 1;
}

function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return {promise, resolve};
}
