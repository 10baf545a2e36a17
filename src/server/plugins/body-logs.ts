/**
 * Bodies in the log, for who looks for a fault: those of requests at the level of `VLLM_REQUEST_BODY_LOG_LEVEL` when
 * requests are logged at all, those of answers with `VLLM_DEBUG_LOG_API_SERVER_RESPONSE`. Both are cut to
 * `--max-log-len` characters.
 */
import type {ServerResponse} from 'node:http';
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import type {Logger} from '../../core/util/logger.ts';
import type {ServerOptions} from '../server-config.ts';

export type BodyLogOptions = Pick<ServerOptions, 'enableLogRequests' | 'maxLogLen'>;

type LogLine = keyof Logger;

/** Names of Python's levels -> ours. */
const LEVELS: Readonly<Record<string, LogLine>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
};

/** Whole answers are kept in memory up to here, as there may be no limit on texts in the log. */
const MAX_KEPT_CHARACTERS = 1024 * 1024;

export function registerBodyLogs(app: FastifyInstance, options: BodyLogOptions, logger: Logger): void {
  const level = options.enableLogRequests ? requestLevel(logger) : null;
  const maxCharacters = options.maxLogLen ?? MAX_KEPT_CHARACTERS;
  if (level !== null) {
    app.addHook('preHandler', async ({id: requestId, body}: FastifyRequest) => {
      if (Buffer.isBuffer(body)) logger[level]({requestId, body: startOf(body, maxCharacters)}, 'Request body');
    });
  }
  if (!isOn(process.env.VLLM_DEBUG_LOG_API_SERVER_RESPONSE)) return;
  app.addHook('onRequest', async ({id: requestId}: FastifyRequest, {raw}: FastifyReply) => {
    const readBody = recordBody(raw, maxCharacters);
    raw.once('close', () => logger.info({requestId, status: raw.statusCode, body: readBody()}, 'Response body'));
  });
}

/** Null for a level that nobody knows: requests are logged without their bodies then. */
function requestLevel(logger: Logger): LogLine | null {
  const name = process.env.VLLM_REQUEST_BODY_LOG_LEVEL || 'DEBUG';
  const level = LEVELS[name.toUpperCase()] ?? null;
  if (level === null) {
    logger.warn(
      {},
      `VLLM_REQUEST_BODY_LOG_LEVEL=${name} is no level; bodies of requests are not logged (allowed: ${Object.keys(LEVELS).join(', ')})`,
    );
  }
  return level;
}

const isOn = (text: string | undefined) => ['1', 'true'].includes((text ?? '').toLowerCase());

/** No more bytes are decoded than the characters can have. */
function startOf(body: Buffer, maxCharacters: number): string {
  return body
    .subarray(0, maxCharacters * 4)
    .toString('utf8')
    .slice(0, maxCharacters);
}

type Write = ServerResponse['write'];

/** Keeps the beginning of what is written; returns the function that gives it out. */
function recordBody(response: ServerResponse, maxCharacters: number): () => string {
  const kept: Buffer[] = [];
  let numBytes = 0;
  let isInner = false;
  const keep = (chunk: unknown) => {
    const isBody = typeof chunk === 'string' || chunk instanceof Uint8Array;
    if (!isBody || isInner || numBytes >= maxCharacters * 4) return;
    const bytes = Buffer.from(chunk as string);
    kept.push(bytes);
    numBytes += bytes.length;
  };
  for (const name of ['write', 'end'] as const) {
    const original = response[name].bind(response) as Write;
    // Both take the same arguments, of which only the first one is looked at; `end` may call `write` in its turn.
    response[name] = ((...args: Parameters<Write>) => {
      keep(args[0]);
      isInner = true;
      try {
        return original(...args);
      } finally {
        isInner = false;
      }
    }) as never;
  }
  return () => startOf(Buffer.concat(kept), maxCharacters);
}
