/** `POST /v1/completions`: body to request, request to a generation, its outputs in the form of completions. */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {
  COMPLETION_FIELDS,
  type CompletionRequest,
  createCompletionRequestReader,
} from '../../core/protocol/openai/completion.ts';
import {type AnswerForm, answerGeneration} from '../answer-generation.ts';
import {endpointHandler, type GenerationEndpoint, schemaLimits} from '../generation-endpoint.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import {CompletionChunks} from '../openai/completion-chunks.ts';
import {type CompletionContext, completionContext} from '../openai/completion-context.ts';
import {WholeCompletion} from '../openai/completion-response.ts';
import {streamOptions} from '../openai/stream-options.ts';
import {answerId, withHeaderPriority} from '../read-request.ts';
import {checkCompletionPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';

export function registerCompletions(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/v1/completions', endpointHandler(createCompletionEndpoint(context), context));
}

export function createCompletionEndpoint(context: ServerContext): GenerationEndpoint {
  const readCompletion = createCompletionRequestReader(schemaLimits());
  const ignoredFields = new IgnoredFields(context.logger, COMPLETION_FIELDS);
  return {
    open(body, request) {
      const completion = withHeaderPriority(readCompletion(body), request);
      ignoredFields.report(body);
      return (reply) => {
        checkCompletionPolicy(completion, context);
        return answerCompletion(request, reply, completion, context);
      };
    },
  };
}

function answerCompletion(
  request: FastifyRequest,
  reply: FastifyReply,
  completion: CompletionRequest,
  context: ServerContext,
): Promise<FastifyReply> {
  const id = answerId('cmpl', request, completion);
  return answerGeneration(
    {
      request,
      reply,
      id,
      start: (options) => context.llm.startCompletion(completion, options),
      openForm: (generation) =>
        completionForm(completion, completionContext(id, completion, generation, context), context),
    },
    context,
  );
}

function completionForm(
  completion: CompletionRequest,
  answer: CompletionContext,
  {options}: ServerContext,
): AnswerForm {
  if (completion.stream) return {stream: new CompletionChunks(answer, streamOptions(completion, options))};
  return {whole: new WholeCompletion(answer, {withPromptDetails: options.enablePromptTokensDetails})};
}
