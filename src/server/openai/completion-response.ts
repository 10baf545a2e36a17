/**
 * The whole completion answer: the fold of the same outputs that a stream would send. All keys are present, null when
 * empty, in the order of the wire (vllm/entrypoints/openai/completion/serving.py,
 * request_output_to_completion_response).
 */
import type {PromptCounts, WholeForm} from '../answer-generation.ts';
import {tokenIdsField, weightVersions} from './answer-context.ts';
import {promptLogprobsField} from './chat-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';
import type {CompletionContext} from './completion-context.ts';
import {CompletionText} from './completion-text.ts';
import {OutputFold} from './output-fold.ts';
import {type UsageFormat, wholeCompletionUsage} from './usage.ts';

export class WholeCompletion extends OutputFold implements WholeForm {
  readonly #context: CompletionContext;
  readonly #usageFormat: UsageFormat;

  constructor(context: CompletionContext, usageFormat: UsageFormat) {
    super(context.numChoices);
    this.#context = context;
    this.#usageFormat = usageFormat;
  }

  toResponse(counts: PromptCounts) {
    const {id, created, model, systemFingerprint, metrics} = this.#context;
    const {totalTokens: completionTokens, outputs} = this;
    return {
      id,
      object: 'text_completion',
      created,
      model,
      choices: outputs.map((output) => choiceOf(this.#context, output)),
      service_tier: null,
      system_fingerprint: systemFingerprint,
      usage: wholeCompletionUsage({...counts, completionTokens}, this.#usageFormat),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: metrics(),
    };
  }
}

function choiceOf(context: CompletionContext, output: ChatOutput) {
  const {choice, tokenIds, finish} = output;
  const prompt = context.promptOf(choice);
  const {text, logprobs} = new CompletionText(context, choice).show(output);
  return {
    index: choice,
    text,
    logprobs,
    finish_reason: finish?.finishReason ?? null,
    stop_reason: finish?.stopReason ?? null,
    token_ids: tokenIdsField(context, tokenIds),
    prompt_logprobs: context.hasPromptLogprobs ? promptLogprobsField(prompt.logprobs()) : null,
    prompt_token_ids: context.returnTokenIds ? prompt.tokenIds : null,
    routed_experts: null,
    weight_versions: weightVersions(context, finish?.numTokens ?? tokenIds.length),
  };
}
