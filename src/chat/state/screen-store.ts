/**
 * Collects what happens and hands it to the screen at most thirty times a second, however fast tokens come. Asking a
 * person about a call is here, too, because it is something the screen shows and answers.
 */
import type {ToolCall} from '../conversation/messages.ts';
import type {Approval} from '../conversation/run-turn.ts';
import {updateView, type ViewEvent, type ViewState} from './view-state.ts';

const flushMs = 33;
/** More text than this is shown over several frames, so that keys are heard in between. */
const maxFrameCharacters = 16_000;

type Settle = (state: ViewState) => ViewState;

export class ScreenStore {
  readonly #listeners = new Set<() => void>();
  readonly #pending: {event: ViewEvent; timeMs: number}[] = [];
  readonly #now: () => number;
  readonly #settle: Settle;
  #state: ViewState;
  #timer: NodeJS.Timeout | null = null;
  #answerApproval: ((approval: Approval) => void) | null = null;

  /** @param settle what can be finished before a frame is drawn, such as full lines of a paragraph */
  constructor(
    state: ViewState,
    {now = () => performance.now(), settle = (each) => each}: {now?: () => number; settle?: Settle} = {},
  ) {
    this.#state = state;
    this.#now = now;
    this.#settle = settle;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): ViewState => this.#state;

  tell(event: ViewEvent): void {
    const timeMs = this.#now();
    for (const part of inParts(event)) this.#pending.push({event: part, timeMs});
    this.#timer ??= setTimeout(() => this.#showFrame(), flushMs);
  }

  /** Shows everything now. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#show(this.#pending.length);
  }

  #showFrame(): void {
    let room = maxFrameCharacters;
    const numFitting = this.#pending.findIndex(({event}) => {
      room -= event.type === 'text-delta' ? event.text.length : 0;
      return room < 0;
    });
    this.#show(numFitting === -1 ? this.#pending.length : numFitting);
    this.#timer = this.#pending.length === 0 ? null : setTimeout(() => this.#showFrame(), flushMs);
  }

  #show(numEvents: number): void {
    for (const {event, timeMs} of this.#pending.splice(0, numEvents)) {
      this.#state = updateView(this.#state, event, timeMs);
    }
    this.#state = this.#settle(this.#state);
    for (const listener of this.#listeners) listener();
  }

  /** Resolves with the word of the person; an end of the turn is a no. */
  askApproval(call: ToolCall, {signal, canAllow}: {signal: AbortSignal; canAllow: boolean}): Promise<Approval> {
    this.tell({type: 'approval-asked', call, canAllow});
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

/** A text that is too long for a frame, in pieces that are not. */
function inParts(event: ViewEvent): ViewEvent[] {
  if (event.type !== 'text-delta' || event.text.length <= maxFrameCharacters) return [event];
  const head = event.text.slice(0, maxFrameCharacters).replace(/[\ud800-\udbff]$/, '');
  return [{...event, text: head}, ...inParts({...event, text: event.text.slice(head.length)})];
}
