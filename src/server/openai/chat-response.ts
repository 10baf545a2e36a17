/**
 * The whole chat answer: the fold of the same outputs that a stream would send. All keys are present, null when empty,
 * in the order of the wire (vllm/entrypoints/openai/chat_completion/serving.py, chat_completion_full_generator).
 */
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import type {PromptCounts} from '../answer-generation.ts';
import {type AnswerContext, promptFields, tokenIdsField, weightVersions} from './answer-context.ts';
import {chatLogprobs, promptLogprobsField} from './chat-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';
import {type UsageFormat, wholeUsage} from './usage.ts';

interface GatheredOutput extends ChatOutput {
  logprobs: DecodedLogprobs[];
}

function emptyOutput(choice: number): GatheredOutput {
  return {choice, text: '', tokenIds: [], logprobs: [], finish: null};
}

/** Gathers the outputs of every choice, by index. */
export class WholeAnswer {
  readonly #choices: GatheredOutput[];

  constructor(numChoices: number) {
    this.#choices = Array.from({length: numChoices}, (_, choice) => emptyOutput(choice));
  }

  push({choice, text, tokenIds, logprobs, finish}: ChatOutput): void {
    const answer = this.#choices[choice];
    answer.text += text;
    answer.tokenIds.push(...tokenIds);
    if (logprobs) answer.logprobs.push(...logprobs);
    answer.finish = finish;
  }

  /** Ends the choices that are still open, with what they have. */
  abort(): void {
    for (const answer of this.#choices) {
      answer.finish ??= {finishReason: 'abort', stopReason: null, numTokens: answer.tokenIds.length};
    }
  }

  /** The answer, when every choice has ended. */
  toResponse(context: AnswerContext, prompts: PromptCounts, usageFormat: UsageFormat) {
    const end = context.end();
    const counts = {
      ...prompts,
      completionTokens: this.#choices.reduce((sum, {finish}) => sum + (finish?.numTokens ?? 0), 0),
    };
    return {
      id: context.id,
      object: 'chat.completion',
      created: context.created,
      model: context.model,
      choices: this.#choices.map((output) => choiceOf(context, output)),
      service_tier: null,
      system_fingerprint: context.systemFingerprint,
      usage: wholeUsage(counts, usageFormat),
      prompt_logprobs: promptLogprobsField(end.promptLogprobs),
      ...promptFields(context),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: end.metrics,
    };
  }
}

function choiceOf(context: AnswerContext, {choice, text, tokenIds, logprobs, finish}: ChatOutput) {
  return {
    index: choice,
    message: {
      role: context.role,
      content: context.echo + text,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      reasoning: null,
    },
    logprobs: chatLogprobs(logprobs, context.logprobs),
    finish_reason: finish?.finishReason ?? null,
    stop_reason: finish?.stopReason ?? null,
    token_ids: tokenIdsField(context, tokenIds),
    routed_experts: null,
    weight_versions: weightVersions(context, finish?.numTokens ?? tokenIds.length),
  };
}
