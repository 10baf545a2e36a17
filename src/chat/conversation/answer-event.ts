/** What a backend tells of an answer, piece by piece, and the fold of the pieces to one message. */
import type {AssistantMessage, ToolCall} from './messages.ts';

export interface AnswerUsage {
  promptTokens: number;
  completionTokens: number;
}

export type AnswerPiece =
  | {type: 'reasoning-delta'; text: string}
  | {type: 'text-delta'; text: string}
  | {type: 'tool-call-start'; index: number; id: string; name: string}
  | {type: 'tool-call-delta'; index: number; argumentsText: string};

/** The last event has the usage when the server told it. */
export type AnswerEvent = AnswerPiece | {type: 'finish'; finishReason: string; usage: AnswerUsage | null};

/** An answer so far. Calls stand at the index that they were told with. */
export interface AnswerSoFar {
  text: string;
  reasoning: string;
  calls: ToolCall[];
}

export const emptyAnswer: AnswerSoFar = {text: '', reasoning: '', calls: []};

/** The answer with one more piece; nothing is changed in place. */
export function addPiece(answer: AnswerSoFar, piece: AnswerPiece): AnswerSoFar {
  switch (piece.type) {
    case 'text-delta':
      return {...answer, text: answer.text + piece.text};
    case 'reasoning-delta':
      return {...answer, reasoning: answer.reasoning + piece.text};
    case 'tool-call-start':
      return {...answer, calls: [...answer.calls, newCall(piece.id, piece.name)]};
    case 'tool-call-delta':
      return {...answer, calls: answer.calls.map((call, index) => withArguments(call, index === piece.index, piece))};
  }
}

function newCall(id: string, name: string): ToolCall {
  return {id, type: 'function', function: {name, arguments: ''}};
}

function withArguments(call: ToolCall, isMeant: boolean, {argumentsText}: {argumentsText: string}): ToolCall {
  if (!isMeant) return call;
  return {...call, function: {...call.function, arguments: call.function.arguments + argumentsText}};
}

export function toMessage({text, reasoning, calls}: AnswerSoFar): AssistantMessage {
  return {
    role: 'assistant',
    content: text,
    ...(reasoning !== '' && {reasoning}),
    ...(calls.length > 0 && {tool_calls: calls}),
  };
}
