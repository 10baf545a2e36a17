/**
 * The JSON of a streamed chat answer as events. Servers differ: thoughts come as `reasoning` or `reasoning_content`,
 * calls with or without an index, usage in the last chunk or one of its own, errors as a chunk in the middle.
 */
import * as z from 'zod';
import {ServingError} from '../../core/errors.ts';
import type {AnswerEvent, AnswerUsage} from '../conversation/answer-event.ts';

const callSchema = z.looseObject({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({name: z.string().nullish(), arguments: z.string().nullish()}).nullish(),
});

const deltaSchema = z.looseObject({
  content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(callSchema).nullish(),
});

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: deltaSchema.nullish(),
        /** A server that does not stream answers like this. */
        message: deltaSchema.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.looseObject({prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish()}).nullish(),
});

const errorSchema = z.union([
  z.looseObject({error: z.looseObject({message: z.string()})}).transform(({error}) => error.message),
  z.looseObject({error: z.string()}).transform(({error}) => error),
  z.looseObject({object: z.literal('error'), message: z.string()}).transform(({message}) => message),
  z.looseObject({detail: z.string()}).transform(({detail}) => detail),
]);

/** The text of an error body; null when it is none. */
export function errorMessageOf(body: unknown): string | null {
  return errorSchema.safeParse(body).data ?? null;
}

type Delta = z.infer<typeof deltaSchema>;
type CallDelta = z.infer<typeof callSchema>;

export class ChunkReader {
  #finishReason: string | null = null;
  #usage: AnswerUsage | null = null;
  /** The server's index of each call; ours is its place. */
  readonly #callIndices: number[] = [];

  /** @throws ServingError for an error event, or what is no chunk at all */
  *read(data: string): Generator<AnswerEvent, void, undefined> {
    const body = parse(data);
    const parsed = chunkSchema.safeParse(body);
    const message = parsed.data?.choices ? null : errorMessageOf(body);
    if (message !== null) throw new ServingError(message);
    if (!parsed.success) throw new ServingError(`The server sent something that is no chunk: ${data.slice(0, 200)}`);
    const {choices, usage} = parsed.data;
    if (usage) this.#usage = {promptTokens: usage.prompt_tokens ?? 0, completionTokens: usage.completion_tokens ?? 0};
    const choice = choices?.[0];
    if (!choice) return;
    yield* this.#readDelta(choice.delta ?? choice.message ?? {});
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
  }

  /** @throws ServingError when the answer was cut off */
  *end(): Generator<AnswerEvent, void, undefined> {
    if (this.#finishReason === null) throw new ServingError('The connection ended in the middle of the answer');
    yield {type: 'finish', finishReason: this.#finishReason, usage: this.#usage};
  }

  *#readDelta(delta: Delta): Generator<AnswerEvent, void, undefined> {
    const reasoning = delta.reasoning ?? delta.reasoning_content ?? '';
    if (reasoning !== '') yield {type: 'reasoning-delta', text: reasoning};
    if (delta.content) yield {type: 'text-delta', text: delta.content};
    for (const call of delta.tool_calls ?? []) yield* this.#readCall(call);
  }

  *#readCall({index: given, id, function: called}: CallDelta): Generator<AnswerEvent, void, undefined> {
    const theirs = given ?? (id ? this.#callIndices.length : this.#callIndices.length - 1);
    let index = this.#callIndices.indexOf(theirs);
    if (index === -1) {
      index = this.#callIndices.push(theirs) - 1;
      yield {type: 'tool-call-start', index, id: id ?? `call_${index}`, name: called?.name ?? ''};
    }
    const argumentsText = called?.arguments ?? '';
    if (argumentsText !== '') yield {type: 'tool-call-delta', index, argumentsText};
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ServingError(`The server sent something that is no JSON: ${data.slice(0, 200)}`, {cause});
  }
}
