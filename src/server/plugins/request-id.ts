/**
 * Ids of requests: the client's `X-Request-Id`, else 32 hex digits. The id stands in every log line of the request and,
 * with the option, in the answer's header.
 */
import {randomUUID} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import type {FastifyInstance} from 'fastify';

/** Value of the header; null when it is missing. */
export function clientRequestId(request: {headers: IncomingMessage['headers']}): string | null {
  const value = request.headers['x-request-id'];
  return typeof value === 'string' ? value : null;
}

export function makeRequestId(request: {headers: IncomingMessage['headers']}): string {
  return clientRequestId(request) ?? randomUUID().replaceAll('-', '');
}

export function registerRequestIdHeader(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
}
