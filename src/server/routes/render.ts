/**
 * `POST /v1/chat/completions/render` and `/v1/completions/render`: a request up to the engine's door, for another server
 * to go on with. What the engine itself would check is not checked here.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {createCompletionRequestReader, promptsOf} from '../../core/protocol/openai/completion.ts';
import {schemaLimits} from '../generation-endpoint.ts';
import {createChatReader} from '../read-chat.ts';
import {answerId, readRequestBody, withHeaderPriority} from '../read-request.ts';
import {checkCompletionRenderPolicy, checkRenderPolicy} from '../request-policy.ts';
import type {RouteHandler, RouteTable} from '../route-table.ts';
import {renderedChat, renderedCompletion} from '../scale-out/rendered-request.ts';
import {addScaleOutRoute} from '../scale-out/scale-out-route.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerRender(routes: RouteTable, context: ServerContext): void {
  addScaleOutRoute(routes, '/v1/chat/completions/render', createChatRender(context), context);
  addScaleOutRoute(routes, '/v1/completions/render', createCompletionRender(context), context);
}

function createChatRender(context: ServerContext): RouteHandler {
  const readChat = createChatReader(context);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const chat = readChat(readRequestBody(request), request);
    checkRenderPolicy(chat, context);
    const rendered = await context.llm.renderChat(chat);
    return sendJson(reply, 200, renderedChat(answerId('chatcmpl', request, chat), chat, rendered));
  };
}

function createCompletionRender(context: ServerContext): RouteHandler {
  const readCompletion = createCompletionRequestReader(schemaLimits());
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const completion = withHeaderPriority(readCompletion(readRequestBody(request)), request);
    checkCompletionRenderPolicy(completion, context);
    const prepared = await context.llm.renderCompletion(completion);
    const id = answerId('cmpl', request, completion);
    const ids = prepared.length === 1 ? [id] : promptsOf(completion).map((_, index) => `${id}-${index}`);
    return sendJson(reply, 200, renderedCompletion(ids, completion, prepared));
  };
}
