/**
 * Several engine processes of this machine behind one client. The first one is started alone, because it may have to
 * build the graph; the others find it in the cache.
 */
import type {EngineConfig} from '../../config/engine-config.ts';
import {silentLogger, withFields} from '../../util/logger.ts';
import {type ChildProcessEngineOptions, startChildProcessEngine} from './child-process-client.ts';
import {divideMachine, type MachineFacts} from './divide-machine.ts';
import type {EngineClient} from './engine-client.ts';
import {EngineGroup} from './engine-group.ts';
import {type BackOff, RestartingEngine} from './restarting-engine.ts';

export interface DataParallelOptions extends ChildProcessEngineOptions {
  numEngines: number;
  /** In place of what the machine has, for tests. */
  facts?: MachineFacts;
  backOff?: BackOff;
}

/**
 * @throws ModelError when the memory does not suffice or the model cannot be loaded; nothing is left running then
 */
export async function startDataParallelEngines(
  config: EngineConfig,
  {numEngines, facts, backOff, ...options}: DataParallelOptions,
): Promise<EngineClient> {
  const share = divideMachine(config, numEngines, facts);
  const logger = options.logger ?? silentLogger;
  const {threads, kvCacheBytes} = share;
  logger.info(
    {numEngines, threads, kvCacheBytes},
    `${numEngines} engines, each with ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
  );
  const startOne = (index: number, given: ChildProcessEngineOptions) =>
    startChildProcessEngine(seeded(share, index), {...options, ...given, logger: withFields(logger, {engine: index})});
  const engines = await startAll(numEngines, startOne, options);
  const members = engines.map(
    (engine, index) =>
      new RestartingEngine(engine, {
        start: (signal) => startOne(index, {signal, onProgress: () => {}}),
        logger: withFields(logger, {engine: index}),
        ...(backOff && {backOff}),
      }),
  );
  return new EngineGroup({engines: members, info: engines[0]!.info, retries: false, logger});
}

type StartOne = (index: number, given: ChildProcessEngineOptions) => Promise<EngineClient>;

/** All or none. */
async function startAll(
  numEngines: number,
  startOne: StartOne,
  options: ChildProcessEngineOptions,
): Promise<EngineClient[]> {
  const first = await startOne(0, options);
  const others = await Promise.allSettled(
    Array.from({length: numEngines - 1}, (_, index) => startOne(index + 1, {onProgress: () => {}})),
  );
  const engines = [first, ...others.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))];
  const failure = others.find((start) => start.status === 'rejected');
  if (failure === undefined) return engines;
  await Promise.all(engines.map((engine) => engine.close()));
  throw failure.reason;
}

/** Sequences without a seed must not draw the same in two engines. */
function seeded(config: EngineConfig, index: number): EngineConfig {
  return {...config, seed: config.seed + index};
}
