/**
 * Collects what happens and hands it to the screen at most thirty times a second, however fast tokens come. Asking a
 * person about a call is here, too, because it is something the screen shows and answers.
 */
import type {ToolCall} from '../conversation/messages.ts';
import type {Approval} from '../conversation/run-turn.ts';
import {updateView, type ViewEvent, type ViewState} from './view-state.ts';

const flushMs = 33;

export class ScreenStore {
  readonly #listeners = new Set<() => void>();
  readonly #pending: {event: ViewEvent; timeMs: number}[] = [];
  readonly #now: () => number;
  #state: ViewState;
  #timer: NodeJS.Timeout | null = null;
  #answerApproval: ((approval: Approval) => void) | null = null;

  constructor(state: ViewState, now: () => number = () => performance.now()) {
    this.#state = state;
    this.#now = now;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): ViewState => this.#state;

  tell(event: ViewEvent): void {
    this.#pending.push({event, timeMs: this.#now()});
    this.#timer ??= setTimeout(() => this.flush(), flushMs);
  }

  /** Shows everything now. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const {event, timeMs} of this.#pending.splice(0)) this.#state = updateView(this.#state, event, timeMs);
    for (const listener of this.#listeners) listener();
  }

  /** Resolves with the word of the person; an end of the turn is a no. */
  askApproval(call: ToolCall, signal: AbortSignal): Promise<Approval> {
    this.tell({type: 'approval-asked', call});
    return new Promise((resolve) => {
      const stop = () => this.approve({type: 'no', reason: 'the turn was stopped'});
      signal.addEventListener('abort', stop, {once: true});
      this.#answerApproval = (approval) => {
        signal.removeEventListener('abort', stop);
        resolve(approval);
      };
    });
  }

  approve(approval: Approval): void {
    const answer = this.#answerApproval;
    this.#answerApproval = null;
    if (answer === null) return;
    this.tell({type: 'approval-given'});
    answer(approval);
  }
}
