/**
 * Whether a server takes requests. It is out from its first failure to connect until it answers again; between requests
 * it is looked at now and then, so that the one who asks for our health is told the truth without traffic.
 */
import type {Logger} from '../../../util/logger.ts';

export interface HealthTimes {
  /** From look to look while it is up. */
  upMs: number;
  /** While it is out: the first pause, doubled up to the longest. */
  downMs: number;
  longestDownMs: number;
  /** No answer within this time is none. */
  answerMs: number;
  /** A request that gets nothing for so long from a server that is out is given up. */
  silentMs: number;
}

export const defaultHealthTimes: HealthTimes = {
  upMs: 5000,
  downMs: 250,
  longestDownMs: 5000,
  answerMs: 10_000,
  silentMs: 30_000,
};

export interface ReplicaHealthOptions {
  /**
   * Resolves with null when the server is well, else with what is wrong; never rejects.
   * @param isThorough everything is looked at, as at the start: it was out, or it failed on a request
   */
  look: (signal: AbortSignal, isThorough: boolean) => Promise<string | null>;
  /** Called when it goes out. */
  onOut?: (cause: string) => void;
  isUp: boolean;
  logger: Logger;
  times: HealthTimes;
}

export class ReplicaHealth {
  readonly #look: ReplicaHealthOptions['look'];
  readonly #logger: Logger;
  readonly #onOut: (cause: string) => void;
  readonly #times: HealthTimes;
  readonly #closing = new AbortController();
  #isUp: boolean;
  #isSuspected = false;
  #numReturns = 0;
  #downMs: number;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  constructor({look, isUp, logger, onOut = () => {}, times}: ReplicaHealthOptions) {
    this.#look = look;
    this.#onOut = onOut;
    this.#isUp = isUp;
    this.#logger = logger;
    this.#times = times;
    this.#downMs = times.downMs;
    this.#schedule();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** How often it came back. */
  get numReturns(): number {
    return this.#numReturns;
  }

  /** It could not be reached: out until it answers. */
  noteFailure(cause: string): void {
    if (this.#closing.signal.aborted || !this.#isUp) return;
    this.#goDown(cause);
    this.#schedule();
  }

  /** It is busy, or about to stop: look now. */
  lookAgain(): void {
    if (this.#isUp && this.#looking === null) this.#lookNow();
  }

  /** A request failed for a reason that may be the server's: look at everything, as one that is ill may call itself well. */
  suspect(): void {
    this.#isSuspected = true;
    this.lookAgain();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#closing.signal.aborted) return;
    this.#timer = setTimeout(() => this.#lookNow(), this.#isUp ? this.#times.upMs : this.#downMs).unref();
  }

  #lookNow(): void {
    this.#looking ??= this.#update().finally(() => {
      this.#looking = null;
      this.#schedule();
    });
  }

  async #update(): Promise<void> {
    const isThorough = this.#isSuspected || !this.#isUp;
    this.#isSuspected = false;
    const fault = await this.#look(this.#closing.signal, isThorough);
    if (this.#closing.signal.aborted) return;
    if (fault === null) this.#comeBack();
    else if (this.#isUp) this.#goDown(fault);
    else this.#downMs = Math.min(2 * this.#downMs, this.#times.longestDownMs);
  }

  #goDown(cause: string): void {
    this.#isUp = false;
    this.#downMs = this.#times.downMs;
    this.#logger.error({}, `engine is out: ${cause}`);
    this.#onOut(cause);
  }

  #comeBack(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#numReturns++;
    this.#logger.info({numRestarts: this.#numReturns}, 'engine is back');
  }
}
