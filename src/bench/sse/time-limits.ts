/** The time limits of one request, which are ours alone: undici's are off. */
import type {Failure} from '../request-record.ts';

/** In seconds; 0 = no limit. */
export interface TimeLimits {
  /** Until the first output. */
  first: number;
  /** Between two reads. */
  idle: number;
  /** Of the whole request. */
  total: number;
}

type LimitType = 'timeout_first' | 'timeout_idle' | 'timeout_total';

const messages: Readonly<Record<LimitType, string>> = {
  timeout_first: 'No output came',
  timeout_idle: 'Nothing more came',
  timeout_total: 'The answer did not end',
};

/** Calls back once when a limit is passed. */
export class RequestTimers {
  readonly #idleSeconds: number;
  readonly #onLimit: (failure: Failure) => void;
  #first: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #total: NodeJS.Timeout | undefined;

  constructor({first, idle, total}: TimeLimits, onLimit: (failure: Failure) => void) {
    this.#idleSeconds = idle;
    this.#onLimit = onLimit;
    this.#first = this.#after(first, 'timeout_first');
    this.#total = this.#after(total, 'timeout_total');
  }

  noteRead(hasOutput: boolean): void {
    if (hasOutput && this.#first !== undefined) {
      clearTimeout(this.#first);
      this.#first = undefined;
    }
    if (this.#idle === undefined) this.#idle = this.#after(this.#idleSeconds, 'timeout_idle');
    else this.#idle.refresh();
  }

  stop(): void {
    for (const timer of [this.#first, this.#idle, this.#total]) clearTimeout(timer);
  }

  #after(seconds: number, type: LimitType): NodeJS.Timeout | undefined {
    if (seconds === 0) return undefined;
    const message = `${messages[type]} within ${seconds} s.`;
    return setTimeout(() => this.#onLimit({type, message}), seconds * 1000);
  }
}
