/** `POST /tokenize` and `POST /detokenize`: between texts, conversations and token ids, without the engine. */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {parseDetokenizeRequest, parseTokenizeRequest} from '../../core/protocol/openai/tokenize.ts';
import {readRequestBody} from '../read-request.ts';
import {checkMediaOptions, checkModelName, checkTemplateTrust} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerTokenize(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/tokenize', (request, reply) => answerTokenize(request, reply, context));
  routes.add('POST', '/detokenize', (request, reply) => answerDetokenize(request, reply, context));
}

async function answerTokenize(
  request: FastifyRequest,
  reply: FastifyReply,
  context: ServerContext,
): Promise<FastifyReply> {
  const tokenize = parseTokenizeRequest(readRequestBody(request));
  checkModelName(tokenize, context);
  if (tokenize.type === 'chat') {
    checkTemplateTrust(tokenize, context);
    checkMediaOptions(tokenize, context);
  }
  const {llm} = context;
  const tokens = await llm.tokenize(tokenize);
  return sendJson(reply, 200, {
    count: tokens.length,
    max_model_len: llm.modelInfo.maxModelLen,
    tokens,
    token_strs: tokenize.return_token_strs ? llm.tokenStrings(tokens) : null,
  });
}

function answerDetokenize(request: FastifyRequest, reply: FastifyReply, context: ServerContext): FastifyReply {
  const detokenize = parseDetokenizeRequest(readRequestBody(request));
  checkModelName(detokenize, context);
  return sendJson(reply, 200, {prompt: context.llm.detokenize(detokenize.tokens)});
}
