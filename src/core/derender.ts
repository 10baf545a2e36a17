/**
 * The last part of a split request: token ids that another server generated go through the same output path as those of
 * the own engine, so that the answer reads as if it had been made here (vllm/entrypoints/scale_out/derender).
 */
import type {AnswerReader} from './answer-reader.ts';
import type {SequenceOutput} from './engine/protocol.ts';
import {ValidationError} from './errors.ts';
import {type ChoiceDelta, type Generation, type GenerationParts, toEvents} from './generation.ts';
import {OutputProcessor} from './output/output-processor.ts';
import type {ChatEvent} from './parsers/events.ts';
import type {SamplingRequest} from './protocol/openai/sampling-request.ts';
import type {RecordedChoice} from './protocol/scale-out/derender-request.ts';
import type {RenderedPrompt} from './renderer/render-chat.ts';
import {resolveTextParams} from './sampling/resolve-sampling-params.ts';
import {streamOf} from './util/item-stream.ts';

/** What was generated for one prompt. */
export interface Recording {
  /** As far as it is known; its end gives the first token its spacing. */
  prompt: RenderedPrompt;
  choices: RecordedChoice[];
}

type ReplayParts = Pick<GenerationParts, 'tokenizer' | 'generation' | 'engine'>;

/**
 * @param request what the answer was asked for with: its stop strings and the ways to write text count
 * @throws ValidationError when a choice is longer than the context
 */
export function replayGeneration(
  request: SamplingRequest,
  recordings: readonly Recording[],
  parts: ReplayParts,
  createReader: (prompt: RenderedPrompt) => AnswerReader | null = () => null,
): Generation {
  const readers = new Map(recordings.map(({prompt}) => [prompt, createReader(prompt)]));
  checkLengths(recordings, parts.engine.info.maxModelLen);
  return {
    prompts: recordings.map(({prompt}) => prompt),
    reader: (prompt) => readers.get(prompt) ?? null,
    cachedTokens: () => null,
    promptLogprobs: () => null,
    timing: () => null,
    events: streamOf(replayEvents(request, recordings, parts, readers)),
  };
}

function checkLengths(recordings: readonly Recording[], maxModelLen: number): void {
  for (const {choices} of recordings) {
    const long = choices.find(({tokenIds}) => tokenIds.length > maxModelLen);
    if (!long) continue;
    throw new ValidationError(
      `token_ids length (${long.tokenIds.length}) in choice ${long.index} exceeds max_model_len (${maxModelLen}).`,
    );
  }
}

async function* replayEvents(
  request: SamplingRequest,
  recordings: readonly Recording[],
  {tokenizer, generation}: ReplayParts,
  readers: ReadonlyMap<RenderedPrompt, AnswerReader | null>,
): AsyncGenerator<ChatEvent, void, undefined> {
  const params = resolveTextParams(request, generation.defaults);
  let index = 0;
  for (const {prompt, choices} of recordings) {
    const answers = readers.get(prompt) ?? null;
    const text = answers?.textParams(params, tokenizer) ?? params;
    for (const choice of choices) {
      const reader = answers?.openChoice() ?? null;
      const processor = new OutputProcessor({tokenizer, promptTokenIds: prompt.tokenIds, text, reader});
      const delta = processor.process(outputOf(choice));
      if (delta) yield* toEvents(index, withRecordedEnd({...delta, numTokens: processor.numTokens, reader}, choice));
      index++;
    }
  }
}

/** The engine ends with `stop` at a token only; an end by a stop string has a last token like any other. */
function outputOf({tokenIds, logprobs, finishReason, stopReason}: RecordedChoice): SequenceOutput {
  const endsByText = finishReason === 'stop' && typeof stopReason === 'string';
  return {
    requestId: '',
    newTokenIds: tokenIds,
    logprobs,
    promptLogprobs: null,
    finishReason: endsByText ? 'length' : finishReason,
    stopReason: typeof stopReason === 'number' ? stopReason : null,
    numCachedTokens: null,
    tokenTimesMs: [],
    start: null,
    numPreemptions: 0,
    error: null,
  };
}

/** A stop string that was found here wins; else the output ended as the other server says. */
function withRecordedEnd(delta: ChoiceDelta, {finishReason, stopReason}: RecordedChoice): ChoiceDelta {
  return typeof delta.stopReason === 'string' ? delta : {...delta, finishReason, stopReason};
}
