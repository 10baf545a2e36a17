/**
 * The whole chat answer: the fold of the same outputs that a stream would send. All keys are present, null when empty,
 * in the order of the wire (vllm/entrypoints/openai/chat_completion/serving.py, chat_completion_full_generator).
 */
import type {FinishReason} from '../../core/parsers/events.ts';
import type {PromptCounts, WholeForm} from '../answer-generation.ts';
import {type AnswerContext, choiceTokenIds, hidesTokens, promptFields, weightVersions} from './answer-context.ts';
import {messageOf, plainReading, type WholeReading, wholeReading} from './answer-reading.ts';
import {chatLogprobs, promptLogprobsField} from './chat-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';
import {type FoldedOutput, OutputFold} from './output-fold.ts';
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
    const {totalTokens: completionTokens, totalReasoningTokens, outputs} = this.#fold;
    const reasoningTokens = context.reading?.countsReasoning ? totalReasoningTokens : null;
    const {promptLogprobs, metrics} = context.end();
    return {
      id: context.id,
      object: 'chat.completion',
      created: context.created,
      model: context.model,
      choices: outputs.map((output) => choiceOf(context, output)),
      service_tier: null,
      system_fingerprint: context.systemFingerprint,
      usage: wholeUsage({...counts, completionTokens, reasoningTokens}, this.#usageFormat),
      prompt_logprobs: promptLogprobsField(promptLogprobs),
      ...promptFields(context),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics,
    };
  }
}

/** What one choice of a whole answer says. */
export function readingOf(
  {reading: form}: Pick<AnswerContext, 'reading'>,
  {text, folded, reading}: FoldedOutput,
): WholeReading {
  return form ? wholeReading(text, folded, reading?.hasReasoned ?? false, form) : plainReading(text);
}

/** A call counts as the end of a choice only when it is shown. */
export function finishReasonOf({finish}: FoldedOutput, {toolCalls}: WholeReading): FinishReason | null {
  if (finish === null) return null;
  return finish.finishReason === 'tool_calls' && toolCalls.length === 0 ? 'stop' : finish.finishReason;
}

function choiceOf(context: AnswerContext, output: FoldedOutput) {
  const {choice, tokenIds, logprobs, finish} = output;
  const reading = readingOf(context, output);
  return {
    index: choice,
    message: messageOf(context.role, context.echo, reading, context.reading),
    logprobs: hidesTokens(context) ? null : chatLogprobs(logprobs, context.logprobs),
    finish_reason: finishReasonOf(output, reading),
    stop_reason: finish?.stopReason ?? null,
    token_ids: choiceTokenIds(context, tokenIds),
    routed_experts: null,
    weight_versions: weightVersions(context, finish?.numTokens ?? tokenIds.length),
  };
}
