/**
 * The requests that are being answered: each gets a signal that ends it, from its client's leaving or from the server's
 * stop. The reason of the signal says which of the two it was.
 */

/** Why a request was ended before its time. */
export type EndReason = 'client-gone' | 'shutdown';

export interface ActiveRequest {
  signal: AbortSignal;
  /** Ends the request; the first reason counts. */
  end(reason: EndReason): void;
  /** The answer is complete. */
  done(): void;
}

export class ActiveRequests {
  readonly #controllers = new Set<AbortController>();
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#controllers.size;
  }

  open(): ActiveRequest {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return {
      signal: controller.signal,
      end: (reason) => controller.abort(reason),
      done: () => this.#remove(controller),
    };
  }

  /** Ends all open requests; their answers are completed with what is there. */
  endAll(reason: EndReason): void {
    for (const controller of this.#controllers) controller.abort(reason);
  }

  /** Resolves when no request is open. */
  async idle(): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #remove(controller: AbortController): void {
    this.#controllers.delete(controller);
    if (this.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
