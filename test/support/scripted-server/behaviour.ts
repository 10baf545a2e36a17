/** What a scripted server does with a request: an answer with chosen times and form, or one of the ways to fail. */

export interface Answer {
  kind: 'answer';
  /** Until the first output, after the request was read. */
  ttftMs: number;
  gapMs: number;
  numTokens: number;
  /** A role event at once, before the first output. */
  isRoleFirst?: boolean;
  /** Tokens of one event. */
  tokensPerEvent?: number;
  /** Events that are written at the same moment. */
  eventsPerBurst?: number;
  /** So many first tokens are reasoning. */
  numReasoning?: number;
  /** The output is the arguments of a tool call. */
  isToolCall?: boolean;
  /** Where token counts stand: in every event, in an event of their own at the end, in the last choice, nowhere. */
  usage?: 'running' | 'last' | 'last-choice' | 'none';
  /** How much later than the last choice the usage comes. */
  usageDelayMs?: number;
  /** Text of each token. */
  token?: string;
  /** How the bytes look: no blank behind `data:`, carriage returns, comments and other fields, one byte at a time. */
  form?: 'usual' | 'odd-lines' | 'bytewise';
  hasDone?: boolean;
}

export type Fault =
  | {kind: 'status'; status: number}
  | {kind: 'reset'}
  | {kind: 'cut'; numTokens: number}
  | {kind: 'error-event'; numTokens: number}
  | {kind: 'malformed'}
  | {kind: 'empty'}
  | {kind: 'no-stream'}
  | {kind: 'stall'; numTokens: number}
  | {kind: 'slow-headers'; ms: number};

export type Behaviour = Answer | Fault;

export interface Script {
  /** Request i gets behaviour i modulo their number, by the number at the end of its id. */
  behaviours: Behaviour[];
  /** Nothing is written in this time, counted from the first request. */
  freeze?: {fromMs: number; toMs: number};
  /** Requests that ask for token counts in every event get a 400. */
  refusesChunkUsage?: boolean;
}

/** What the server saw and did, with its own clock, which is the one of this machine. */
export interface ServedRequest {
  id: string;
  receivedMs: number;
  /** When each event with output was written. */
  outputMs: number[];
  messages: {role: string; content: string; tool_call_id?: string}[];
}
