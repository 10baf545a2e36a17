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

/** Sends all turns; a turn that fails ends the conversation. Each later turn is planned for when it can first be sent. */
export async function runSession(
  {turns}: Session,
  plannedMs: number,
  send: Send,
  {turnDelayMs, keepsReasoning}: TurnOptions,
): Promise<void> {
  let history: Message[] = [];
  let turnPlannedMs = plannedMs;
  for (const turn of turns) {
    if (turn.turn > 0 && turnDelayMs > 0) await delay(turnDelayMs);
    const request = history.length === 0 ? turn : withHistory(turn, history);
    const record = await send(request, turnPlannedMs);
    if (!isSuccess(record)) return;
    history = [...messagesOf(request), answerMessage(record, keepsReasoning)];
    turnPlannedMs = record.endedMs + turnDelayMs;
  }
}

function withHistory(turn: PlannedRequest, history: readonly Message[]): PlannedRequest {
  return {...turn, body: {...turn.body, messages: [...history, ...messagesOf(turn)]}};
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
