/** `POST /inference/v1/generate`: token ids in, token ids out; on demand with the text or as a chat message. */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {ValidationError} from '../../core/errors.ts';
import type {Generation} from '../../core/llm.ts';
import {type GenerateRequest, parseGenerateRequest} from '../../core/protocol/scale-out/generate-request.ts';
import {type AnswerForm, answerGeneration} from '../answer-generation.ts';
import {readingForm} from '../openai/chat-context.ts';
import {streamOptions} from '../openai/stream-options.ts';
import {answerId, readRequestBody, withHeaderPriority} from '../read-request.ts';
import {checkRequestPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import {GenerateChunks, type GenerateContext, WholeGenerate} from '../scale-out/generate-answer.ts';
import {addScaleOutRoute} from '../scale-out/scale-out-route.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';

export function registerGenerate(routes: RouteTable, context: ServerContext): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const generate = parseGenerateRequest(readRequestBody(request));
    checkMode(generate);
    const sampling = withHeaderPriority(generate.sampling, request);
    checkRequestPolicy({...sampling, model: generate.model}, context);
    return answerTokens(request, reply, {...generate, sampling}, context);
  };
  addScaleOutRoute(routes, '/inference/v1/generate', handler, context);
}

/** A message is read from the whole text. */
function checkMode({output_mode, stream, detokenize}: GenerateRequest): void {
  if (output_mode === 'derender' && stream) {
    throw new ValidationError("output_mode='derender' does not support stream=true.");
  }
  if (output_mode !== 'tokens' && !detokenize) {
    throw new ValidationError(`output_mode='${output_mode}' requires sampling_params.detokenize to be true.`);
  }
}

function answerTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  generate: GenerateRequest,
  context: ServerContext,
): Promise<FastifyReply> {
  const id = answerId('generate-tokens', request, generate);
  return answerGeneration(
    {
      request,
      reply,
      id,
      start: (options) => context.llm.startTokens(generate, options),
      openForm: (generation) => tokensForm(generate, generateContext(id, generate, generation, context), context),
    },
    context,
  );
}

function tokensForm(generate: GenerateRequest, answer: GenerateContext, {options}: ServerContext): AnswerForm {
  if (generate.stream) {
    return {stream: new GenerateChunks(answer, generate.token_ids.length, streamOptions(generate, options))};
  }
  return {whole: new WholeGenerate(answer, {withPromptDetails: options.enablePromptTokensDetails})};
}

function generateContext(
  id: string,
  {output_mode, sampling, token_ids, return_token_ids, parse_context}: GenerateRequest,
  generation: Generation,
  {servedModelNames, options}: ServerContext,
): GenerateContext {
  return {
    id,
    created: unixSeconds(),
    model: servedModelNames[0]!,
    mode: output_mode,
    numChoices: sampling.n,
    promptTokenIds: return_token_ids ? token_ids : null,
    topLogprobs: sampling.logprobs ? sampling.top_logprobs : null,
    reading: readingForm(generation.reader(generation.prompts[0]!), options),
    includesReasoning: output_mode !== 'derender' || parse_context?.include_reasoning !== false,
    promptLogprobs: () => generation.promptLogprobs(generation.prompts[0]!),
  };
}
