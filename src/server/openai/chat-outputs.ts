/**
 * Chat events arranged as outputs, the unit that becomes a chunk: new text of one choice, and how the choice ended when
 * it did. The last text of a choice and its end arrive as two events of the same moment; here they become one output.
 */
import type {ChatEvent, FinishReason, Reading} from '../../core/parsers/events.ts';
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import {type ItemStream, readItems} from '../../core/util/item-stream.ts';
import {joinReadings} from './answer-reading.ts';

export interface ChatOutput {
  choice: number;
  /** As it was generated. */
  text: string;
  tokenIds: number[];
  /** One for each id; null when the request asked for none. */
  logprobs: DecodedLogprobs[] | null;
  /** What parsers made of the text; null when none reads it. */
  reading: Reading | null;
  finish: {finishReason: FinishReason; stopReason: string | number | null; numTokens: number} | null;
}

type Finish = Extract<ChatEvent, {type: 'finish'}>;

function endOf({finishReason, stopReason, numTokens}: Finish): ChatOutput['finish'] {
  return {finishReason, stopReason, numTokens};
}

/** Appends what `next` says to an output of the same choice that has not ended. */
export function joinOutputs(first: ChatOutput, next: ChatOutput): ChatOutput {
  return {
    choice: first.choice,
    text: first.text + next.text,
    tokenIds: first.tokenIds.concat(next.tokenIds),
    logprobs: joinLogprobs(first.logprobs, next.logprobs),
    reading: joinReadings(first.reading, next.reading),
    finish: next.finish,
  };
}

/** Outputs without tokens have no logprobs. */
function joinLogprobs(first: ChatOutput['logprobs'], next: ChatOutput['logprobs']): ChatOutput['logprobs'] {
  return first && next ? first.concat(next) : (first ?? next);
}

/** One event as an output. */
function toOutput(event: ChatEvent): ChatOutput {
  const {choice} = event;
  if (event.type === 'finish')
    return {choice, text: '', tokenIds: [], logprobs: null, reading: null, finish: endOf(event)};
  const {text, tokenIds, logprobs, reading} = event;
  return {choice, text, tokenIds, logprobs, reading, finish: null};
}

/** Events as they come, to outputs: one for each, but that the last text of a choice waits for the end that follows it. */
export class OutputJoiner {
  readonly #ending = new Map<number, ChatOutput>();

  /** @returns null for a text whose end is next */
  push(event: ChatEvent): ChatOutput | null {
    const output = toOutput(event);
    if (event.type === 'finish') return this.#completed(output);
    if (!event.isLast) return output;
    this.#ending.set(event.choice, output);
    return null;
  }

  /** Texts whose end did not come. */
  rest(): ChatOutput[] {
    return [...this.#ending.values()];
  }

  #completed(end: ChatOutput): ChatOutput {
    const text = this.#ending.get(end.choice);
    this.#ending.delete(end.choice);
    return text === undefined ? end : joinOutputs(text, end);
  }
}

/** All outputs of an answer, into what folds them. */
export async function pushOutputs(
  events: ItemStream<ChatEvent>,
  form: {push(output: ChatOutput): void},
): Promise<void> {
  const joiner = new OutputJoiner();
  await readItems(events, (event) => {
    const output = joiner.push(event);
    if (output) form.push(output);
  });
  for (const output of joiner.rest()) form.push(output);
}
