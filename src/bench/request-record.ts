/**
 * What one request of a run was and how it went, as plain data that crosses thread borders. All moments are milliseconds
 * since 1970 with fractions, from one clock per machine (`util/clock.ts`), so differences mean something across threads.
 */

export type ErrorType =
  | 'connect'
  | `http_${number}`
  | 'error_event'
  | 'truncated'
  | 'timeout_first'
  | 'timeout_idle'
  | 'timeout_total'
  | 'malformed'
  | 'empty';

/** One request to send: its place in the plan, its body, and what the data set promises about it. */
export interface PlannedRequest {
  /** Position in the plan. */
  index: number;
  /** Sent as `x-request-id`. */
  requestId: string;
  body: Record<string, unknown>;
  /** Tokens of the prompt as the data set counts them; null when it does not know. */
  promptTokens: number | null;
  /** Tokens that the answer is asked to have; null when it ends by itself. */
  outputTokens: number | null;
  /** Id of the entry in the data set, when it has one. */
  sourceId: string | null;
  /** Turn of a conversation, from 0. */
  turn: number;
  /** Given up on purpose after this many events with output; null = never. */
  cancelAfterEvents: number | null;
}

export interface Failure {
  type: ErrorType;
  message: string;
}

export interface RequestRecord {
  index: number;
  requestId: string;
  sourceId: string | null;
  turn: number;
  /** When the plan wanted it sent. */
  plannedMs: number;
  /** Just before its bytes went to the socket, after a place was free. */
  sentMs: number;
  headersMs: number | null;
  /** First event with choices, a role event included. */
  firstChunkMs: number | null;
  /** First event that carried output. */
  firstMs: number | null;
  /** First output that is no reasoning. */
  firstAnswerMs: number | null;
  /** Last event with choices; the usage does not move it. */
  lastMs: number | null;
  /** `[DONE]`. */
  doneMs: number | null;
  endedMs: number;
  /** When each event with output came, in order. */
  outputTimesMs: number[];
  /** Tokens that each of these events carried; null where the server did not say. */
  chunkTokens: (number | null)[];
  status: number | null;
  /** Null while and when everything is fine. */
  failure: Failure | null;
  /** Ended by us: no success and no failure. */
  isCancelled: boolean;
  /** Of the server; null when it gave none. */
  promptTokens: number | null;
  completionTokens: number | null;
  /** Where `completionTokens` comes from; `events` when it is null and events count as tokens. */
  tokenCountSource: 'usage' | 'tokenizer' | 'events';
  cachedTokens: number | null;
  plannedPromptTokens: number | null;
  plannedOutputTokens: number | null;
  hasReasoning: boolean;
  finishReason: string | null;
  /** Texts of the first choice. */
  content: string;
  reasoning: string;
  /** What further choices say, for counts. */
  otherTexts: string;
  toolCalls: {id: string | null; name: string; argumentsText: string}[];
}

export function openRecord(request: PlannedRequest, plannedMs: number, sentMs: number): RequestRecord {
  const {index, requestId, sourceId, turn, promptTokens, outputTokens} = request;
  return {
    index,
    requestId,
    sourceId,
    turn,
    plannedMs,
    sentMs,
    headersMs: null,
    firstChunkMs: null,
    firstMs: null,
    firstAnswerMs: null,
    lastMs: null,
    doneMs: null,
    endedMs: sentMs,
    outputTimesMs: [],
    chunkTokens: [],
    status: null,
    failure: null,
    isCancelled: false,
    promptTokens: null,
    completionTokens: null,
    tokenCountSource: 'events',
    cachedTokens: null,
    plannedPromptTokens: promptTokens,
    plannedOutputTokens: outputTokens,
    hasReasoning: false,
    finishReason: null,
    content: '',
    reasoning: '',
    otherTexts: '',
    toolCalls: [],
  };
}

export function isSuccess({failure, isCancelled}: RequestRecord): boolean {
  return failure === null && !isCancelled;
}
