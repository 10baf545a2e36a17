/**
 * API keys: requests under the guarded prefixes must carry one of the keys as bearer token
 * (vllm/entrypoints/serve/middleware/authenticate.py). Without keys nothing is checked.
 */
import {createHash, timingSafeEqual} from 'node:crypto';
import type {FastifyInstance} from 'fastify';
import {sendJson} from '../send-json.ts';

/** Plain string prefixes: `/v1nope` is guarded too, and so are unknown paths. */
export const GUARDED_PREFIXES = ['/v1', '/v2', '/inference', '/cohere'] as const;

/** @param path with or without query */
export function isGuarded(path: string): boolean {
  return GUARDED_PREFIXES.some((prefix) => path.startsWith(prefix));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The part behind the first space of `Bearer <key>`; null when the header is something else. */
function bearerToken(header: string | undefined): string | null {
  const space = header?.indexOf(' ') ?? -1;
  if (header === undefined || space < 0) return null;
  return header.slice(0, space).toLowerCase() === 'bearer' ? header.slice(space + 1) : null;
}

/** Compares with every key, so that the time tells nothing. */
function isKnownToken(token: string | null, keyDigests: Buffer[]): boolean {
  if (token === null) return false;
  const tokenDigest = digest(token);
  return keyDigests.map((key) => timingSafeEqual(key, tokenDigest)).includes(true);
}

export function registerAuth(app: FastifyInstance, apiKeys: readonly string[]): void {
  const keyDigests = apiKeys.map(digest);
  if (keyDigests.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isGuarded(request.url) || request.method === 'OPTIONS') return;
    if (isKnownToken(bearerToken(request.headers.authorization), keyDigests)) return;
    return sendJson(reply, 401, {error: 'Unauthorized'});
  });
}
