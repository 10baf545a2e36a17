/**
 * Chat events arranged as outputs, the unit that becomes a chunk: new text of one choice, and how the choice ended when
 * it did. The last text of a choice and its end arrive as two events of the same moment; here they become one output.
 */
import type {ChatEvent, FinishReason, Reading} from '../../core/parsers/events.ts';
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
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
export function joinLogprobs(first: ChatOutput['logprobs'], next: ChatOutput['logprobs']): ChatOutput['logprobs'] {
  return first && next ? first.concat(next) : (first ?? next);
}

/** One event as an output. */
export function toOutput(event: ChatEvent): ChatOutput {
  const {choice} = event;
  if (event.type === 'finish')
    return {choice, text: '', tokenIds: [], logprobs: null, reading: null, finish: endOf(event)};
  const {text, tokenIds, logprobs, reading} = event;
  return {choice, text, tokenIds, logprobs, reading, finish: null};
}

/** Resolves when everything that is ready now has been delivered. */
function nextTurn(): Promise<'idle'> {
  return new Promise((resolve) => {
    setImmediate(resolve, 'idle');
  });
}

/**
 * Outputs of a running answer, in order for each choice, without waiting for more than what is there already: an output
 * is held only until its end arrives in the same turn of the event loop, or that turn is over.
 */
export async function* readOutputs(
  events: AsyncGenerator<ChatEvent, void, undefined>,
): AsyncGenerator<ChatOutput, void, undefined> {
  const held = new Map<number, ChatOutput>();
  let next = events.next();
  try {
    for (;;) {
      const arrival = held.size > 0 ? await Promise.race([next, nextTurn()]) : await next;
      if (arrival === 'idle') {
        yield* takeAll(held);
        continue;
      }
      if (arrival.done) break;
      next = events.next();
      yield* hold(held, toOutput(arrival.value));
    }
    yield* takeAll(held);
  } catch (error) {
    yield* takeAll(held);
    throw error;
  } finally {
    // When the reader leaves early, nobody waits for what was asked for.
    next.catch(() => {});
    await events.return();
  }
}

function* takeAll(held: Map<number, ChatOutput>): Generator<ChatOutput> {
  const outputs = [...held.values()];
  held.clear();
  yield* outputs;
}

/** Holds text until its end may have come; gives out what is complete. */
function* hold(held: Map<number, ChatOutput>, output: ChatOutput): Generator<ChatOutput> {
  const earlier = held.get(output.choice);
  held.delete(output.choice);
  if (output.finish) yield earlier ? joinOutputs(earlier, output) : output;
  else {
    if (earlier) yield earlier;
    held.set(output.choice, output);
  }
}
