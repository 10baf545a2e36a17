/**
 * Several engines of the same model as one. Each request goes to one engine: the one that it names, the one that runs the
 * other choices of the same request, else the best one. Engines that are down get nothing; they come back by themselves.
 */
import {EngineDeadError, OverloadedError} from '../../errors.ts';
import type {TokenVocabulary} from '../../sampling/token-vocabulary.ts';
import type {ItemStream} from '../../util/item-stream.ts';
import type {Logger} from '../../util/logger.ts';
import {tapStream} from '../../util/tap-stream.ts';
import type {EngineRequest, ModelInfo, SequenceOutput} from '../protocol.ts';
import {chooseEngine, type EngineCandidate} from './choose-engine.ts';
import type {EngineClient, EngineState, StatsListener} from './engine-client.ts';
import {PrefixMemory, prefixHashes} from './prefix-memory.ts';

export interface EngineGroupOptions {
  /** At least one; closed together with the group. */
  engines: readonly EngineClient[];
  /** What all of them have in common. */
  info: ModelInfo;
  /**
   * A request whose engine fails before it has made a token is given to another one. Only for engines that fail for
   * reasons of their own: a request that ends its process would end the next one, too.
   */
  retries: boolean;
  logger: Logger;
}

type Outputs = ItemStream<SequenceOutput>;

interface Member {
  index: number;
  engine: EngineClient;
  prefixes: PrefixMemory;
  /** Of the engine when `prefixes` was last looked at. */
  numRestarts: number;
}

/** The engine that runs the choices of one request. */
interface Home {
  index: number;
  numOpen: number;
}

/** Where a deployment does not say how large its cache is. */
const unknownCacheTokens = 2 ** 20;

export class EngineGroup implements EngineClient {
  readonly info: ModelInfo;
  readonly death: Promise<Error>;
  readonly #members: Member[];
  readonly #retries: boolean;
  readonly #logger: Logger;
  /** By the id that choices of one request share. */
  readonly #homes = new Map<string, Home>();
  #lastChosen: number;

  constructor({engines, info, retries, logger}: EngineGroupOptions) {
    this.info = info;
    this.#retries = retries;
    this.#logger = logger;
    this.#lastChosen = engines.length - 1;
    const cacheTokens = info.kvCacheTokens || unknownCacheTokens;
    this.#members = engines.map((engine, index) => ({
      index,
      engine,
      prefixes: new PrefixMemory(cacheTokens),
      numRestarts: 0,
    }));
    this.death = Promise.all(engines.map(({death}) => death)).then((causes) => causes.at(-1)!);
  }

  generate(request: EngineRequest, options: {signal?: AbortSignal} = {}): Outputs {
    const failed = new Set<number>();
    let attempt: Attempt | null = null;
    const open = (): Outputs => {
      attempt = new Attempt(this.#members[this.#place(request, failed)]!, request);
      return attempt.outputs(options);
    };
    return tapStream(open, {
      onItem: (output) => attempt!.note(output),
      onEnd: () => {
        attempt!.end();
        this.#leaveHome(request);
      },
      replace: (error) => {
        const {index} = attempt!;
        failed.add(index);
        if (!this.#mayRetry(error, attempt!, request, failed)) return null;
        this.#logger.warn({requestId: request.requestId, engine: index, err: error}, 'request goes to another engine');
        return open();
      },
    });
  }

  isAlive(): boolean {
    return this.#members.some(({engine}) => engine.isAlive());
  }

  engineStates(): EngineState[] {
    return this.#members.flatMap(({engine}) => engine.engineStates());
  }

  numOpenRequests(): number {
    return this.#members.reduce((sum, {engine}) => sum + engine.numOpenRequests(), 0);
  }

  numBacklogTokens(): number {
    return this.#members.reduce((sum, {engine}) => sum + engine.numBacklogTokens(), 0);
  }

  resetPrefixCache(): void {
    for (const {engine, prefixes} of this.#members) {
      engine.resetPrefixCache();
      prefixes.forgetAll();
    }
  }

  provideVocabulary(make: () => TokenVocabulary): void {
    let made: TokenVocabulary | null = null;
    for (const {engine} of this.#members) engine.provideVocabulary(() => (made ??= make()));
  }

  onStats(listener: StatsListener): () => void {
    const stops = this.#members.map(({index, engine}) => engine.onStats((stats) => listener(stats, index)));
    return () => stops.forEach((stop) => void stop());
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({engine}) => engine.close()));
  }

  /** The choices of one request share a prompt, so they stay together while one of them is open. */
  #place(request: EngineRequest, failed: ReadonlySet<number>): number {
    if (request.choiceOf === undefined) return this.#choose(request, failed);
    const key = request.choiceOf.requestId;
    const home = this.#homes.get(key) ?? {index: this.#choose(request, failed), numOpen: 0};
    if (failed.has(home.index)) home.index = this.#choose(request, failed);
    // A choice that moves has been counted.
    if (failed.size === 0) home.numOpen++;
    this.#homes.set(key, home);
    return home.index;
  }

  #leaveHome({choiceOf}: EngineRequest): void {
    const home = choiceOf && this.#homes.get(choiceOf.requestId);
    if (home && --home.numOpen === 0) this.#homes.delete(choiceOf.requestId);
  }

  /** @throws EngineDeadError when there is none */
  #choose(request: EngineRequest, failed: ReadonlySet<number>): number {
    const {promptTokenIds, cacheSalt, engineIndex} = request;
    if (engineIndex !== undefined) return engineIndex;
    const up = this.#members.filter(({index, engine}) => !failed.has(index) && engine.isAlive());
    if (up.length === 0) throw new EngineDeadError(`None of the ${this.#members.length} engines takes requests.`);
    const hashes = prefixHashes(promptTokenIds, cacheSalt);
    const candidates = up.map((member) => candidateOf(member, hashes));
    this.#lastChosen = chooseEngine(candidates, promptTokenIds.length, this.#lastChosen);
    return this.#lastChosen;
  }

  #mayRetry(error: unknown, {hasBegun}: Attempt, {engineIndex}: EngineRequest, failed: ReadonlySet<number>): boolean {
    if (!this.#retries || hasBegun || engineIndex !== undefined) return false;
    const mayHelp = error instanceof EngineDeadError || error instanceof OverloadedError;
    return mayHelp && this.#members.some(({index, engine}) => !failed.has(index) && engine.isAlive());
  }
}

function candidateOf(member: Member, hashes: readonly number[]): EngineCandidate {
  forgetWhatIsGone(member);
  const {index, engine, prefixes} = member;
  return {
    index,
    knownTokens: prefixes.knownTokens(hashes),
    backlogTokens: engine.numBacklogTokens(),
    openSequences: engine.numOpenRequests(),
  };
}

/** The cache of an engine that came back is empty. */
function forgetWhatIsGone(member: Member): void {
  const numRestarts = member.engine.engineStates().reduce((sum, state) => sum + state.numRestarts, 0);
  if (numRestarts !== member.numRestarts) member.prefixes.forgetAll();
  member.numRestarts = numRestarts;
}

/** One request in one engine. */
class Attempt {
  readonly index: number;
  hasBegun = false;
  readonly #member: Member;
  readonly #request: EngineRequest;
  readonly #outputTokenIds: number[] = [];

  constructor(member: Member, request: EngineRequest) {
    this.index = member.index;
    this.#member = member;
    this.#request = request;
    member.prefixes.remember(prefixHashes(request.promptTokenIds, request.cacheSalt));
  }

  outputs(options: {signal?: AbortSignal}): Outputs {
    return this.#member.engine.generate(this.#request, options);
  }

  note(output: SequenceOutput): void {
    this.hasBegun = true;
    output.engineIndex = this.index;
    for (const tokenId of output.newTokenIds) this.#outputTokenIds.push(tokenId);
  }

  /** The next turn of a conversation begins with this one. */
  end(): void {
    const {promptTokenIds, cacheSalt} = this.#request;
    if (this.#outputTokenIds.length === 0) return;
    this.#member.prefixes.remember(prefixHashes([...promptTokenIds, ...this.#outputTokenIds], cacheSalt));
  }
}
