/**
 * A rendered request on the wire: everything that a server with the engine needs to go on, in the keys and order of the
 * reference (vllm/entrypoints/scale_out/render/protocol.py). Pure functions; floats are marked, so that they are written
 * as floats.
 */
import type {PreparedPrompt, RenderedChat} from '../../core/llm.ts';
import type {ChatCompletionRequest} from '../../core/protocol/openai/chat-completion.ts';
import type {CompletionRequest} from '../../core/protocol/openai/completion.ts';
import {countToolCalls} from '../../core/protocol/openai/earlier-tool-calls.ts';
import {constraintOf} from '../../core/protocol/openai/structured-outputs.ts';
import {JsonFloat} from '../../core/util/parse-json.ts';

type Fields = Record<string, unknown>;

/** Numbers by which the reference tells how an answer is wanted: in pieces, or at the end. */
const OUTPUT_KIND = {deltas: 1, finalOnly: 2};
/** Not written out: it is what an absent `max_tokens` means. */
const DEFAULT_MAX_TOKENS = 16;

/** What both endpoints' requests say about the answer. */
type RenderedFields = Pick<
  ChatCompletionRequest,
  | 'model'
  | 'n'
  | 'stream'
  | 'stream_options'
  | 'stream_interval'
  | 'cache_salt'
  | 'priority'
  | 'return_token_ids'
  | 'kv_transfer_params'
  | 'ec_transfer_params'
  | 'vllm_xargs'
  | 'logprob_token_ids'
  | 'allowed_token_ids'
  | 'bad_words'
  | 'stop_token_ids'
  | 'thinking_token_budget'
  | 'repetition_detection'
  | 'structured_outputs'
  | 'response_format'
>;

/** How many logprobs are wanted; null = none. */
interface LogprobCounts {
  logprobs: number | null;
  promptLogprobs: number | null;
}

interface RenderedParts extends LogprobCounts {
  id: string;
  request: RenderedFields;
  prepared: PreparedPrompt;
  tokenOffsets: [number, number][] | null;
  parseContext: Fields | null;
}

export function renderedChat(id: string, request: ChatCompletionRequest, rendered: RenderedChat): Fields {
  return renderedRequest({
    id,
    request,
    prepared: rendered,
    tokenOffsets: rendered.tokenOffsets,
    parseContext: parseContext(request, rendered),
    logprobs: request.logprobs ? request.top_logprobs : null,
    promptLogprobs: request.prompt_logprobs ?? (request.echo ? request.top_logprobs : null),
  });
}

/** @param ids one for each prompt */
export function renderedCompletion(ids: string[], request: CompletionRequest, prepared: PreparedPrompt[]): Fields[] {
  const promptLogprobs = request.prompt_logprobs ?? (request.echo ? request.logprobs : null);
  return prepared.map((prompt, index) =>
    renderedRequest({
      id: ids[index]!,
      request,
      prepared: prompt,
      tokenOffsets: null,
      parseContext: null,
      logprobs: request.logprobs,
      promptLogprobs,
    }),
  );
}

function renderedRequest(parts: RenderedParts): Fields {
  const {id, request, prepared, tokenOffsets, parseContext} = parts;
  return {
    request_id: id,
    token_ids: prepared.prompt.tokenIds,
    token_offsets: tokenOffsets,
    features: null,
    content_parts: null,
    sampling_params: samplingParams(parts),
    model: request.model,
    // A thought that nobody wants to see counts as over: constraints hold from the first token.
    reasoning_ended: parseContext?.include_reasoning === false ? true : null,
    reasoning_parser_kwargs: null,
    return_token_ids: request.return_token_ids || null,
    output_mode: 'tokens',
    parse_context: parseContext,
    stream: request.stream,
    stream_options: request.stream_options,
    cache_salt: request.cache_salt,
    priority: request.priority,
    kv_transfer_params: request.kv_transfer_params,
    ec_transfer_params: request.ec_transfer_params,
  };
}

const float = (value: number) => new JsonFloat(value);
const orAbsent = (value: unknown, isSet: boolean) => (isSet ? value : undefined);
const ifGiven = (value: unknown) => value ?? undefined;

/** Values that are defaults are left out, as in the reference; with greedy sampling the filters are defaults too. */
function samplingParams({request, prepared, logprobs, promptLogprobs}: RenderedParts): Fields {
  const {sampling, text} = prepared.resolved;
  const isGreedy = sampling.temperature === 0;
  return {
    n: orAbsent(request.n, request.n !== 1),
    presence_penalty: float(sampling.presencePenalty),
    frequency_penalty: float(sampling.frequencyPenalty),
    repetition_penalty: float(sampling.repetitionPenalty),
    temperature: float(sampling.temperature),
    top_p: orAbsent(float(sampling.topP), !isGreedy),
    top_k: orAbsent(sampling.topK, sampling.topK !== 0),
    min_p: orAbsent(float(sampling.minP), !isGreedy),
    seed: ifGiven(sampling.seed),
    stop: text.stop,
    stop_token_ids: request.stop_token_ids,
    ignore_eos: orAbsent(true, sampling.ignoreEos),
    max_tokens: orAbsent(sampling.maxTokens, sampling.maxTokens !== DEFAULT_MAX_TOKENS),
    min_tokens: orAbsent(sampling.minTokens, sampling.minTokens !== 0),
    thinking_token_budget: orAbsent(request.thinking_token_budget, (request.thinking_token_budget ?? -1) >= 0),
    logprobs: ifGiven(logprobs),
    prompt_logprobs: ifGiven(promptLogprobs),
    logprob_token_ids: ifGiven(request.logprob_token_ids),
    skip_special_tokens: orAbsent(false, !text.skipSpecialTokens),
    spaces_between_special_tokens: orAbsent(false, !text.spacesBetweenSpecialTokens),
    include_stop_str_in_output: orAbsent(true, text.includeStopStrInOutput),
    output_kind: request.stream ? OUTPUT_KIND.deltas : OUTPUT_KIND.finalOnly,
    stream_interval: ifGiven(request.stream_interval),
    skip_clone: true,
    structured_outputs: ifGiven(structuredOutputs(request, prepared)),
    logit_bias: orAbsent(logitBias(sampling.logitBias), sampling.logitBias.length > 0),
    allowed_token_ids: ifGiven(request.allowed_token_ids),
    extra_args: ifGiven(request.vllm_xargs),
    bad_words: request.bad_words,
    repetition_detection: ifGiven(request.repetition_detection),
    skip_reading_prefix_cache: promptLogprobs !== null,
  };
}

function logitBias(entries: [number, number][]): Fields {
  return Object.fromEntries(entries.map(([tokenId, bias]) => [tokenId, float(bias)]));
}

function structuredOutputs(request: RenderedFields, {reader}: PreparedPrompt): Fields | null {
  const stated = constraintOf(request);
  const constraint = reader === null ? stated : reader.constraint(stated);
  return constraint && {...constraint, _backend: null, _backend_was_auto: false};
}

function parseContext(request: ChatCompletionRequest, {tools, templateKwargs}: RenderedChat): Fields {
  return {
    tools,
    tool_choice: request.tool_choice,
    parallel_tool_calls: request.parallel_tool_calls,
    include_reasoning: request.include_reasoning,
    chat_template_kwargs: templateKwargs,
    history_tool_call_cnt: countToolCalls(request.messages),
  };
}
