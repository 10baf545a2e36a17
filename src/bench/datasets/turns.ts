/** Cuts a recorded conversation into turns: each is what one request adds. Recorded answers are left to the model. */
import type {Message} from './dataset.ts';

/**
 * A turn begins at the first message after an answer, whoever wrote it: the user, or tools whose results follow a call.
 * Messages behind the last answer are a turn of their own; a conversation that ends with an answer has no turn after it.
 */
export function conversationTurns(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [[]];
  for (const message of messages) {
    if (message.role !== 'assistant') turns.at(-1)?.push(message);
    else if (turns.at(-1)?.length !== 0) turns.push([]);
  }
  return turns.filter((turn) => turn.some(({role}) => role === 'user' || role === 'tool'));
}
