/**
 * `POST /inference/v1/abort_requests`: ends running requests by the ids of their answers. They end in order, with what
 * they have; unknown ids are ignored.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {SchemaError} from '../../core/errors.ts';
import {isPlainObject} from '../../core/util/parse-json.ts';
import {readRequestBody} from '../read-request.ts';
import type {RouteTable} from '../route-table.ts';
import {addScaleOutRoute} from '../scale-out/scale-out-route.ts';
import {sendEmpty} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerAbortRequests(routes: RouteTable, context: ServerContext): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    context.activeRequests.endByIds(readRequestIds(readRequestBody(request)), 'aborted');
    return sendEmpty(reply, 200);
  };
  addScaleOutRoute(routes, '/inference/v1/abort_requests', handler, context);
  // Not below a guarded prefix: the one in front of a tokens-only server has no key of its clients.
  if (context.options.tokensOnly) addScaleOutRoute(routes, '/abort_requests', handler, context);
}

function readRequestIds(body: unknown): string[] {
  const ids = isPlainObject(body) ? (body.request_ids ?? null) : null;
  if (ids === null) throw new SchemaError("Missing 'request_ids' in request body", {showsParameter: false});
  const list = Array.isArray(ids) ? ids : [ids];
  return list.filter((id) => typeof id === 'string');
}
