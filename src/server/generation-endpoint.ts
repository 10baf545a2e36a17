/**
 * What the routes that generate have in common before their request is known: the stop of the server, the body, the limits
 * of schemas. An endpoint reads a body of its kind and then answers; `/invocations` tries one endpoint after the other.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {OverloadedError} from '../core/errors.ts';
import {type ChatSchemaLimits, DEFAULT_MAX_STOP_STRINGS} from '../core/protocol/openai/chat-completion.ts';
import {SHUTDOWN_MESSAGE} from './answer-generation.ts';
import {readRequestBody} from './read-request.ts';
import type {RouteHandler} from './route-table.ts';
import type {ServerContext} from './server-context.ts';

/** Checks what the server allows, then generates. */
export type Answer = (reply: FastifyReply) => Promise<FastifyReply>;

export interface GenerationEndpoint {
  /**
   * Reads a JSON body.
   * @throws SchemaError when the types do not fit, ValidationError when the fields contradict each other
   */
  open(body: unknown, request: FastifyRequest): Answer;
}

export function endpointHandler(endpoint: GenerationEndpoint, context: ServerContext): RouteHandler {
  return (request, reply) => {
    refuseWhenStopping(context);
    return endpoint.open(readRequestBody(request), request)(reply);
  };
}

/** @throws OverloadedError */
export function refuseWhenStopping({isStopping}: ServerContext): void {
  if (isStopping()) throw new OverloadedError(SHUTDOWN_MESSAGE);
}

/** The limits of this process. */
export function schemaLimits(): ChatSchemaLimits {
  return {maxStopStrings: Number(process.env.VLLM_MAX_STOP_STRINGS) || DEFAULT_MAX_STOP_STRINGS};
}
