/**
 * The socket of the server, before and after there is something to serve: until a handler is set, `/health` answers 503
 * with an empty body and everything else 503 with `Retry-After`.
 */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {createServer as createTlsServer, type ServerOptions as HttpsOptions} from 'node:https';
import type {Duplex} from 'node:stream';
import {errorBody} from './error-response.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Idle connections are closed after this time unless `VLLM_HTTP_TIMEOUT_KEEP_ALIVE` says otherwise. */
const DEFAULT_KEEP_ALIVE_SECONDS = 5;
const RETRY_AFTER_SECONDS = 5;
const BUSY_PATHS = new Set(['/health', '/ping']);
const LOADING_BODY = JSON.stringify(
  errorBody(503, 'Service Unavailable', 'The model is being loaded. Please try again later.'),
);

function answerWhileLoading(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split('?', 1)[0] ?? '';
  response.statusCode = 503;
  response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  if (BUSY_PATHS.has(path)) response.end();
  else response.setHeader('content-type', 'application/json').end(LOADING_BODY);
}

/** Faults of a request that Node finds before there is one -> status line; any other is 400. */
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Bytes that are no HTTP, that come too slowly or are too many get one line and the end of the connection. */
function refuseBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = REFUSALS[error.code ?? ''] ?? '400 Bad Request';
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}

/** A request with more headers than a client has reason to send ends its connection, too. */
function refuseHeaders(response: ServerResponse, numHeaders: number, maxHeaderCount: number): void {
  const message = `The request has ${numHeaders} headers; at most ${maxHeaderCount} are allowed (--h11-max-header-count).`;
  response.writeHead(431, {connection: 'close', 'content-type': 'application/json'});
  response.end(JSON.stringify(errorBody(431, 'Request Header Fields Too Large', message)));
}

function keepAliveSeconds(): number {
  const value = Number(process.env.VLLM_HTTP_TIMEOUT_KEEP_ALIVE);
  return value > 0 ? value : DEFAULT_KEEP_ALIVE_SECONDS;
}

export interface HttpServer {
  server: Server;
  /** From now on requests go to this handler. */
  serve(handler: Handler): void;
  /** Connections from now on get this certificate. Does nothing with plain HTTP. */
  replaceTls(tls: HttpsOptions): void;
  /**
   * Stops listening and closes every connection when all answers are complete; what is left after the time is cut.
   * May be called twice.
   */
  close(graceMs: number): Promise<void>;
}

export interface HttpServerOptions {
  /** Null for plain HTTP. */
  tls?: HttpsOptions | null;
  maxHeaderBytes?: number;
  /** Requests with more headers are refused. */
  maxHeaderCount?: number;
}

export function createHttpServer(options: HttpServerOptions = {}): HttpServer {
  const {tls = null, maxHeaderBytes, maxHeaderCount = Number.POSITIVE_INFINITY} = options;
  let current: Handler = answerWhileLoading;
  let numOpenAnswers = 0;
  const answer: Handler = (request, response) => {
    numOpenAnswers++;
    response.once('close', () => numOpenAnswers--);
    const numHeaders = request.rawHeaders.length / 2;
    if (numHeaders > maxHeaderCount) refuseHeaders(response, numHeaders, maxHeaderCount);
    else current(request, response);
  };
  const limits = maxHeaderBytes === undefined ? {} : {maxHeaderSize: maxHeaderBytes};
  const tlsServer = tls === null ? null : createTlsServer({...tls, ...limits}, answer);
  const server: Server = tlsServer ?? createServer(limits, answer);
  server.keepAliveTimeout = keepAliveSeconds() * 1000;
  // Node would drop the headers beyond its own count in silence.
  server.maxHeadersCount = 0;
  server.on('clientError', refuseBadRequest);
  return {
    server,
    serve(handler) {
      current = handler;
    },
    replaceTls: (next) => void tlsServer?.setSecureContext(next),
    close: (graceMs) => closeWhenAnswered(server, () => numOpenAnswers, graceMs),
  };
}

const CLOSE_POLL_MS = 20;

/** Connections that never sent a request do not count as idle for Node, so the last step closes all of them. */
async function closeWhenAnswered(server: Server, numOpenAnswers: () => number, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const deadline = Date.now() + graceMs;
  const timer = setInterval(() => {
    server.closeIdleConnections();
    if (numOpenAnswers() === 0 || Date.now() >= deadline) server.closeAllConnections();
  }, CLOSE_POLL_MS);
  await closed;
  clearInterval(timer);
}
