/** `metrics` of an answer, with `--enable-per-request-metrics`: where the time of its only choice went. */
import type {GenerationTiming} from '../../core/llm.ts';

const MS_PER_SECOND = 1000;

/** @param timing null when the answer has several choices or none of its tokens was made */
export function requestMetrics(timing: GenerationTiming | null) {
  if (timing === null) return null;
  const {queuedMs, scheduledMs, firstTokenMs, lastTokenMs, numTokens} = timing;
  const generationMs = lastTokenMs - firstTokenMs;
  const inferenceMs = lastTokenMs - scheduledMs;
  return {
    time_to_first_token_ms: firstTokenMs - scheduledMs,
    generation_time_ms: generationMs,
    queue_time_ms: scheduledMs - queuedMs,
    mean_itl_ms: numTokens > 1 ? generationMs / (numTokens - 1) : null,
    tokens_per_second: inferenceMs > 0 ? (numTokens / inferenceMs) * MS_PER_SECOND : null,
    speculative_decoding: null,
  };
}
