/**
 * The requests that are being answered: each gets a signal that ends it, from its client's leaving, from the server's
 * stop, or from a call that names it. The reason of the signal says which of them it was.
 */

/** Why a request was ended before its time. */
export type EndReason = 'client-gone' | 'shutdown' | 'aborted';

export interface ActiveRequest {
  signal: AbortSignal;
  /** Ends the request; the first reason counts. */
  end(reason: EndReason): void;
  /** The answer is complete. */
  done(): void;
}

export class ActiveRequests {
  /** With the id of the answer; several clients may use the same one. */
  readonly #controllers = new Map<AbortController, string>();
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#controllers.size;
  }

  /** @param id of the answer, `chatcmpl-…` */
  open(id: string): ActiveRequest {
    const controller = new AbortController();
    this.#controllers.set(controller, id);
    return {
      signal: controller.signal,
      end: (reason) => controller.abort(reason),
      done: () => this.#remove(controller),
    };
  }

  /** Ends all open requests; their answers are completed with what is there. */
  endAll(reason: EndReason): void {
    for (const controller of this.#controllers.keys()) controller.abort(reason);
  }

  /** Ends the open requests with these ids; unknown ids do nothing. */
  endByIds(ids: readonly string[], reason: EndReason): void {
    const wanted = new Set(ids);
    for (const [controller, id] of this.#controllers) if (wanted.has(id)) controller.abort(reason);
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
