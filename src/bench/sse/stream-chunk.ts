/**
 * What one event of a completion stream means for a measurement: does it carry output, of which kind, does it end a
 * choice, what does it say about token counts. Reads chat and text completions of any OpenAI-compatible server.
 */
import * as z from 'zod';

/** Fields that a chunk of some server may have; everything else is of no interest here. */
const chunkSchema = z.looseObject({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.looseObject({
        index: z.number().optional(),
        text: z.string().nullish(),
        finish_reason: z.string().nullish(),
        token_ids: z.array(z.number()).nullish(),
        delta: z
          .looseObject({
            content: z.string().nullish(),
            reasoning: z.string().nullish(),
            reasoning_content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.number().optional(),
                  id: z.string().nullish(),
                  function: z.looseObject({name: z.string().nullish(), arguments: z.string().nullish()}).optional(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
  usage: z
    .looseObject({
      prompt_tokens: z.number().nullish(),
      completion_tokens: z.number().nullish(),
      prompt_tokens_details: z.looseObject({cached_tokens: z.number().nullish()}).nullish(),
    })
    .nullish(),
});

type Chunk = z.infer<typeof chunkSchema>;
type Delta = NonNullable<NonNullable<Chunk['choices']>[number]['delta']>;

export interface ToolCallPiece {
  index: number;
  id: string | null;
  name: string | null;
  argumentsText: string;
}

export interface StreamChunk {
  /** The event was not an empty list of choices, as the one with the usage is. */
  hasChoices: boolean;
  /** Something that the model made: text, reasoning, a piece of a call, token ids. */
  hasOutput: boolean;
  /** Output that is no reasoning. */
  hasAnswer: boolean;
  content: string;
  reasoning: string;
  toolCalls: ToolCallPiece[];
  finishes: {index: number; reason: string}[];
  usage: {promptTokens: number | null; completionTokens: number | null; cachedTokens: number | null} | null;
  /** Message of an error event, else null. */
  error: string | null;
}

/** @returns null when the data is no JSON object of this kind */
export function readChunk(data: string): StreamChunk | null {
  const parsed = chunkSchema.safeParse(parseOrNull(data));
  return parsed.success ? toStreamChunk(parsed.data) : null;
}

function parseOrNull(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function toStreamChunk(chunk: Chunk): StreamChunk {
  const choices = chunk.choices ?? [];
  const deltas = choices.map(({delta}) => delta ?? {});
  const content = choices.map(({text}) => text ?? '').join('') + join(deltas, ({content}) => content);
  const reasoning = join(deltas, (delta) => delta.reasoning ?? delta.reasoning_content);
  const toolCalls = deltas.flatMap(toolCallPieces);
  const hasTokenIds = choices.some(({token_ids}) => (token_ids?.length ?? 0) > 0);
  const hasAnswer = content !== '' || toolCalls.length > 0 || join(deltas, ({refusal}) => refusal) !== '';
  return {
    hasChoices: choices.length > 0,
    hasOutput: hasAnswer || reasoning !== '' || hasTokenIds,
    hasAnswer,
    content,
    reasoning,
    toolCalls,
    finishes: choices.flatMap(({index = 0, finish_reason}) => (finish_reason ? [{index, reason: finish_reason}] : [])),
    usage: usageOf(chunk.usage),
    error: errorOf(chunk.error),
  };
}

function join(deltas: readonly Delta[], textOf: (delta: Delta) => string | null | undefined): string {
  return deltas.map((delta) => textOf(delta) ?? '').join('');
}

function toolCallPieces({tool_calls}: Delta): ToolCallPiece[] {
  return (tool_calls ?? []).map(({index = 0, id, function: called}) => ({
    index,
    id: id ?? null,
    name: called?.name ?? null,
    argumentsText: called?.arguments ?? '',
  }));
}

function usageOf(usage: Chunk['usage']): StreamChunk['usage'] {
  if (!usage) return null;
  return {
    promptTokens: usage.prompt_tokens ?? null,
    completionTokens: usage.completion_tokens ?? null,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? null,
  };
}

function errorOf(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return error;
  const {message} = error as {message?: unknown};
  return typeof message === 'string' ? message : JSON.stringify(error);
}
