/**
 * The whole chat answer: the fold of the same outputs that a stream would send. All keys are present, null when empty,
 * in the order of the wire (vllm/entrypoints/openai/chat_completion/serving.py, chat_completion_full_generator).
 */
import type {PromptCounts, WholeForm} from '../answer-generation.ts';
import {type AnswerContext, promptFields, tokenIdsField, weightVersions} from './answer-context.ts';
import {chatLogprobs, promptLogprobsField} from './chat-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';
import {OutputFold} from './output-fold.ts';
import {type UsageFormat, wholeUsage} from './usage.ts';

export class WholeAnswer implements WholeForm {
  readonly #context: AnswerContext;
  readonly #usageFormat: UsageFormat;
  readonly #fold: OutputFold;

  constructor(context: AnswerContext, numChoices: number, usageFormat: UsageFormat) {
    this.#context = context;
    this.#usageFormat = usageFormat;
    this.#fold = new OutputFold(numChoices);
  }

  push(output: ChatOutput): void {
    this.#fold.push(output);
  }

  abort(): void {
    this.#fold.abort();
  }

  toResponse(counts: PromptCounts) {
    const context = this.#context;
    const {totalTokens: completionTokens, outputs} = this.#fold;
    const {promptLogprobs, metrics} = context.end();
    return {
      id: context.id,
      object: 'chat.completion',
      created: context.created,
      model: context.model,
      choices: outputs.map((output) => choiceOf(context, output)),
      service_tier: null,
      system_fingerprint: context.systemFingerprint,
      usage: wholeUsage({...counts, completionTokens}, this.#usageFormat),
      prompt_logprobs: promptLogprobsField(promptLogprobs),
      ...promptFields(context),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics,
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
