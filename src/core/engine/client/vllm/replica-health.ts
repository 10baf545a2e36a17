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
}

const defaultHealthTimes: HealthTimes = {upMs: 5000, downMs: 250, longestDownMs: 5000};

export interface ReplicaHealthOptions {
  /** Resolves with null when the server is well, else with what is wrong; never rejects. */
  look: (signal: AbortSignal, isUp: boolean) => Promise<string | null>;
  isUp: boolean;
  logger: Logger;
  times?: HealthTimes;
}

export class ReplicaHealth {
  readonly #look: ReplicaHealthOptions['look'];
  readonly #logger: Logger;
  readonly #times: HealthTimes;
  readonly #closing = new AbortController();
  #isUp: boolean;
  #numReturns = 0;
  #downMs: number;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  constructor({look, isUp, logger, times = defaultHealthTimes}: ReplicaHealthOptions) {
    this.#look = look;
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

  /** A request failed for a reason that may be the server's: look now. */
  suspect(): void {
    if (this.#isUp && this.#looking === null) this.#lookNow();
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
    const fault = await this.#look(this.#closing.signal, this.#isUp);
    if (this.#closing.signal.aborted) return;
    if (fault === null) this.#comeBack();
    else if (this.#isUp) this.#goDown(fault);
    else this.#downMs = Math.min(2 * this.#downMs, this.#times.longestDownMs);
  }

  #goDown(cause: string): void {
    this.#isUp = false;
    this.#downMs = this.#times.downMs;
    this.#logger.error({}, `engine is out: ${cause}`);
  }

  #comeBack(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#numReturns++;
    this.#logger.info({numRestarts: this.#numReturns}, 'engine is back');
  }
}
