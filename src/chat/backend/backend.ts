/** The seam between the talk and whatever answers it: an engine in this machine, or a server at an address. */
import {ServingError} from '../../core/errors.ts';
import type {AnswerEvent} from '../conversation/answer-event.ts';
import type {WireMessage} from '../conversation/messages.ts';

/** A chat request as the API wants it, without the fields about streaming. */
export interface ChatRequestBody {
  messages: WireMessage[];
  tools?: object[];
  [field: string]: unknown;
}

export interface BackendFacts {
  modelName: string;
  /** Null when the server does not tell. */
  maxModelLen: number | null;
  /** False when calls of the model would be read as text; null when the server does not tell. */
  readsToolCalls: boolean | null;
}

export interface LoadProgressNote {
  stage: string;
  /** 0..1 */
  fraction: number;
  detail: string;
}

export interface ChatBackend {
  /** Resolves when requests can be answered. @throws ServingError */
  ready(): Promise<BackendFacts>;
  /** Names that `use` takes. */
  listModels(): Promise<string[]>;
  /** Asks another model from now on. @throws UsageError when there is only one */
  use(modelName: string): Promise<BackendFacts>;
  /** Leaving the loop or aborting ends the work behind it; an abort ends the events without an error. */
  answer(body: ChatRequestBody, options: {signal: AbortSignal}): AsyncGenerator<AnswerEvent, void, undefined>;
  /** The prompt as the model sees it. @throws ServingError when it cannot be told */
  renderPrompt(body: ChatRequestBody): Promise<string>;
  /** Number of tokens of a text or a conversation. */
  countTokens(messages: readonly WireMessage[]): Promise<number>;
  /** May be called twice. */
  close(): Promise<void>;
}

/** The connection failed before anything was answered: it may be tried again. */
export class ConnectionLostError extends ServingError {}
