/** One log line for each answered request, unless its path is one of the silent ones: id, method, path, status, time. */
import type {FastifyInstance} from 'fastify';
import type {Logger} from '../../core/util/logger.ts';
import type {ServerOptions} from '../server-config.ts';

export type AccessLogOptions = Pick<ServerOptions, 'disableUvicornAccessLog' | 'disableAccessLogForEndpoints'>;

export function registerAccessLog(app: FastifyInstance, options: AccessLogOptions, logger: Logger): void {
  if (options.disableUvicornAccessLog) return;
  const silentPaths = new Set(options.disableAccessLogForEndpoints.split(',').map((path) => path.trim()));
  app.addHook('onResponse', async (request, reply) => {
    const {id: requestId, method, completionId} = request;
    const path = request.url.split('?', 1)[0];
    if (silentPaths.has(path)) return;
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
