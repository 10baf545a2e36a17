/** Counts the requests in progress on the routes that generate, from the handler's begin to the end of the answer. */
import type {FastifyInstance} from 'fastify';

const GENERATION_PATHS = new Set([
  '/v1/chat/completions',
  '/v1/chat/completions/batch',
  '/v1/completions',
  '/invocations',
  '/inference/v1/generate',
]);

/** @returns the number of requests in progress */
export function registerLoadTracking(app: FastifyInstance): () => number {
  let numRequests = 0;
  app.addHook('preHandler', async (request, reply) => {
    if (!GENERATION_PATHS.has(request.routeOptions.url ?? '')) return;
    numRequests++;
    reply.raw.once('close', () => numRequests--);
  });
  return () => numRequests;
}
