/**
 * Errors of routes as answers, and the answers of the framework of the reference to paths and methods that no route has:
 * `{"detail": …}` with 404 or 405, and a redirect when only a slash at the end is too much.
 */
import {STATUS_CODES} from 'node:http';
import type {FastifyError, FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {OverloadedError, ValidationError} from '../../core/errors.ts';
import type {Logger} from '../../core/util/logger.ts';
import {errorBody, errorResponse, isServerFault} from '../error-response.ts';
import {withoutOrigin} from '../normalize-url.ts';
import {UnreadableBodyError} from '../read-body.ts';
import type {RouteTable} from '../route-table.ts';
import {sendEmpty, sendJson} from '../send-json.ts';
import {withWrittenIntegers} from '../written-integers.ts';

/** When a client that was turned away for load may ask again. */
const RETRY_AFTER_SECONDS = 1;

/** An error that the framework raised itself, such as a body above the limit. */
function isFrameworkError(error: unknown): error is FastifyError & {statusCode: number} {
  const {code, statusCode} = error as Partial<FastifyError>;
  return String(code).startsWith('FST_') && typeof statusCode === 'number' && statusCode < 500;
}

/** The connection ended in the middle of the body: nobody is there to read an answer. */
function hasClientLeft(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

function frameworkErrorText({code, message}: FastifyError, maxBodyBytes: number): string {
  if (code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return message;
  return `The request body is larger than the limit of ${maxBodyBytes} bytes (--max-body-bytes).`;
}

/** Sends what an error deserves; faults of the server, or all when that is wanted, go to the log with their stack. */
export function sendError(
  reply: FastifyReply,
  error: unknown,
  {logger, logErrorStack}: Pick<ErrorHandlerOptions, 'logger' | 'logErrorStack'>,
): FastifyReply {
  if (error instanceof UnreadableBodyError) return sendJson(reply, 400, {detail: error.detail});
  if (hasClientLeft(error)) logger.debug({requestId: reply.request.id}, 'client left before its request was complete');
  else if (isServerFault(error) || logErrorStack)
    logger.error({requestId: reply.request.id, err: error}, 'request failed');
  const {status, body} = errorResponse(error);
  // Errors of the schema quote the body as it is, next to limits that are as long.
  if (error instanceof ValidationError) {
    body.error.message = withWrittenIntegers(body.error.message, reply.request.body);
  }
  if (error instanceof OverloadedError) reply.header('retry-after', String(RETRY_AFTER_SECONDS));
  return sendJson(reply, status, body);
}

function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply, routes: RouteTable): FastifyReply {
  const [path, query] = splitUrl(request.url);
  const methods = routes.methodsOf(path);
  if (methods.length > 0) {
    reply.header('allow', methods[0]);
    return sendJson(reply, 405, {detail: 'Method Not Allowed'});
  }
  if (path.endsWith('/') && routes.methodsOf(path.slice(0, -1)).length > 0) {
    const [askedPath] = splitUrl(withoutOrigin(request.originalUrl));
    reply.header('location', `${request.protocol}://${request.host}${askedPath.slice(0, -1)}${query}`);
    return sendEmpty(reply, 307);
  }
  return sendJson(reply, 404, {detail: 'Not Found'});
}

function splitUrl(url: string): [path: string, query: string] {
  const start = url.indexOf('?');
  return start < 0 ? [url, ''] : [url.slice(0, start), url.slice(start)];
}

export interface ErrorHandlerOptions {
  logger: Logger;
  routes: RouteTable;
  maxBodyBytes: number;
  /** `--log-error-stack`. */
  logErrorStack: boolean;
}

export function registerErrorHandlers(app: FastifyInstance, options: ErrorHandlerOptions): void {
  const {routes, maxBodyBytes} = options;
  app.setErrorHandler((error, _request, reply) => {
    if (!isFrameworkError(error)) return sendError(reply, error, options);
    const {statusCode} = error;
    const text = frameworkErrorText(error, maxBodyBytes);
    return sendJson(reply, statusCode, errorBody(statusCode, STATUS_CODES[statusCode] ?? 'Error', text));
  });
  app.setNotFoundHandler((request, reply) => answerUnknownRoute(request, reply, routes));
}
