/**
 * Cross-origin access. Off by default, but always in place: preflights are answered here, before routing, and every
 * answer says that it depends on the origin (Starlette's CORSMiddleware as vLLM sets it up).
 */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import type {ServerOptions} from '../server-config.ts';

export type CorsOptions = Pick<
  ServerOptions,
  'allowedOrigins' | 'allowedMethods' | 'allowedHeaders' | 'allowCredentials'
>;

const ALL_METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
/** Headers that any page may send, allowed or not. */
const SAFE_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type'];
const MAX_AGE_SECONDS = 600;
const PREFLIGHT_VARY =
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network';

function isPreflight(request: FastifyRequest): boolean {
  const {origin, 'access-control-request-method': method} = request.headers;
  return request.method === 'OPTIONS' && origin !== undefined && method !== undefined;
}

function allowsOrigin({allowedOrigins}: CorsOptions, origin: string): boolean {
  return allowedOrigins.includes('*') || allowedOrigins.includes(origin);
}

/** `*` when every origin may read and no credentials are involved, else the origin itself. */
function originHeader({allowedOrigins, allowCredentials}: CorsOptions, origin: string): string {
  return allowedOrigins.includes('*') && !allowCredentials ? '*' : origin;
}

function methodsHeader({allowedMethods}: CorsOptions): string {
  return allowedMethods.includes('*') ? ALL_METHODS : allowedMethods.join(', ');
}

interface Refusals {
  origin: boolean;
  method: boolean;
  headers: boolean;
}

function refusalsOf(request: FastifyRequest, options: CorsOptions): Refusals {
  const method = String(request.headers['access-control-request-method']);
  const allowed = new Set([...SAFE_HEADERS, ...options.allowedHeaders].map((name) => name.toLowerCase()));
  const asked = requestedHeaders(request)
    .split(',')
    .map((name) => name.trim().toLowerCase());
  return {
    origin: !allowsOrigin(options, String(request.headers.origin)),
    method: !methodsHeader(options).split(', ').includes(method),
    headers: !options.allowedHeaders.includes('*') && !asked.every((name) => name === '' || allowed.has(name)),
  };
}

function requestedHeaders(request: FastifyRequest): string {
  return String(request.headers['access-control-request-headers'] ?? '');
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply, options: CorsOptions): FastifyReply {
  const refusals = refusalsOf(request, options);
  const refused = Object.entries(refusals).flatMap(([what, isRefused]) => (isRefused ? [what] : []));
  reply.headers({
    vary: PREFLIGHT_VARY,
    'access-control-allow-methods': methodsHeader(options),
    'access-control-max-age': String(MAX_AGE_SECONDS),
    'content-type': 'text/plain; charset=utf-8',
    ...(!refusals.origin && allowedOriginHeaders(options, String(request.headers.origin))),
    ...allowedHeaderHeaders(options, request),
  });
  return refused.length === 0
    ? reply.code(200).send('OK')
    : reply.code(400).send(`Disallowed CORS ${refused.join(', ')}`);
}

function allowedHeaderHeaders({allowedHeaders}: CorsOptions, request: FastifyRequest): Record<string, string> {
  const names = allowedHeaders.includes('*')
    ? requestedHeaders(request)
    : [...SAFE_HEADERS, ...allowedHeaders].join(', ');
  return names === '' ? {} : {'access-control-allow-headers': names};
}

function allowedOriginHeaders(options: CorsOptions, origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': originHeader(options, origin),
    ...(options.allowCredentials && {'access-control-allow-credentials': 'true'}),
  };
}

export function registerCors(app: FastifyInstance, options: CorsOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isPreflight(request)) return answerPreflight(request, reply, options);
    const {origin} = request.headers;
    reply.header('vary', 'Origin');
    if (origin !== undefined && allowsOrigin(options, origin)) reply.headers(allowedOriginHeaders(options, origin));
    return undefined;
  });
}
