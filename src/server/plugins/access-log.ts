/** One log line for each answered request: id, method, path, status, time. */
import type {FastifyInstance} from 'fastify';
import type {Logger} from '../../core/util/logger.ts';

export function registerAccessLog(app: FastifyInstance, logger: Logger): void {
  app.addHook('onResponse', async (request, reply) => {
    const {id: requestId, method, completionId} = request;
    const path = request.url.split('?', 1)[0];
    const status = reply.raw.statusCode;
    const fields = {
      requestId,
      ...(completionId && {completionId}),
      method,
      path,
      status,
      ...(!reply.raw.writableFinished && {aborted: true}),
      ms: Math.round(reply.elapsedTime),
    };
    logger.info(fields, `${method} ${path} ${status}`);
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the answer, such as `chatcmpl-…`, once there is one. */
    completionId: string | undefined;
  }
}
