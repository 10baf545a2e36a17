/**
 * One unit of load: a conversation of one or more turns, each sent when the answer to the one before has come. Plain
 * data, so that it can go to a worker thread.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {isSuccess, type PlannedRequest, type RequestRecord} from '../request-record.ts';

export interface Session {
  /** Seconds from the start of the run. */
  offsetSeconds: number;
  /** The messages of later turns are those that come on top of what was said before. */
  turns: PlannedRequest[];
}

export interface TurnOptions {
  turnDelayMs: number;
  /** Whether the reasoning of an answer goes back to the model in the next turn. */
  keepsReasoning: boolean;
}

export type Send = (request: PlannedRequest, plannedMs: number) => Promise<RequestRecord>;
type Message = Record<string, unknown>;

/**
 * Sends all turns; a turn that fails ends the conversation. Each later turn is planned for when it can first be sent.
 * @param stop no further turn begins once it is aborted
 */
export async function runSession(
  {turns}: Session,
  plannedMs: number,
  send: Send,
  {turnDelayMs, keepsReasoning}: TurnOptions,
  stop: AbortSignal,
): Promise<void> {
  let history: Message[] = [];
  let answer: RequestRecord | null = null;
  let turnPlannedMs = plannedMs;
  for (const turn of turns) {
    const request = answer === null ? turn : nextRequest(turn, history, answer);
    if (request === null) continue;
    if (answer !== null && turnDelayMs > 0) await delay(turnDelayMs, undefined, {signal: stop}).catch(() => {});
    if (answer !== null && stop.aborted) return;
    answer = await send(request, turnPlannedMs);
    if (!isSuccess(answer)) return;
    history = [...messagesOf(request), answerMessage(answer, keepsReasoning)];
    turnPlannedMs = answer.endedMs + turnDelayMs;
  }
}

/** Null when nothing is left to say: results of tools for an answer that called none. */
function nextRequest(turn: PlannedRequest, history: readonly Message[], answer: RequestRecord): PlannedRequest | null {
  const added = withResultsOf(answer, messagesOf(turn));
  return added.length === 0 ? null : {...turn, body: {...turn.body, messages: [...history, ...added]}};
}

/** Recorded results of tools answer the calls that the model really made, in order, each call exactly once. */
function withResultsOf({toolCalls}: RequestRecord, messages: readonly Message[]): Message[] {
  const results = messages.filter(({role}) => role === 'tool');
  const others = messages.filter(({role}) => role !== 'tool');
  const answers = toolCalls.map(({id}, index) => ({
    content: '',
    ...results[Math.min(index, results.length - 1)],
    role: 'tool',
    tool_call_id: id,
  }));
  return [...answers, ...others];
}

function messagesOf({body: {messages}}: PlannedRequest): Message[] {
  return Array.isArray(messages) ? (messages as Message[]) : [];
}

function answerMessage({content, reasoning, toolCalls}: RequestRecord, keepsReasoning: boolean): Message {
  return {
    role: 'assistant',
    content,
    ...(keepsReasoning && reasoning !== '' && {reasoning}),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({id, name, argumentsText}) => ({
        id,
        type: 'function',
        function: {name, arguments: argumentsText},
      })),
    }),
  };
}
