/**
 * Recorded error answers against the edge alone: bodies that the protocol refuses, without a model. Cases that are
 * refused later (by the renderer, the sampling check, the engine) are left to the runs against a whole server.
 */
import {describe, expect, it} from 'vitest';
import {createChatRequestReader, DEFAULT_MAX_STOP_STRINGS} from '../../src/core/protocol/openai/chat-completion.ts';
import {type ErrorBody, errorResponse} from '../../src/server/error-response.ts';
import {readJsonBody, UnreadableBodyError} from '../../src/server/read-body.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

interface HttpCase {
  name: string;
  flags: string[];
  request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: unknown;
    rawBody?: string;
    rawBodyBase64?: string;
  };
  response: {status: number; body?: ErrorBody};
  volatile?: string[];
}

function bytesOf({body, rawBody, rawBodyBase64}: HttpCase['request']): Buffer {
  if (rawBodyBase64 !== undefined) return Buffer.from(rawBodyBase64, 'base64');
  return Buffer.from(rawBody ?? JSON.stringify(body ?? null));
}

const readChat = createChatRequestReader({maxStopStrings: DEFAULT_MAX_STOP_STRINGS});

/** The answer of the edge; null when it lets the request pass. */
function refusalOf({request}: HttpCase): {status: number; body: unknown} | null {
  try {
    readChat(readJsonBody(bytesOf(request), request.headers?.['content-type']?.trim()));
    return null;
  } catch (error) {
    return error instanceof UnreadableBodyError ? {status: 400, body: {detail: error.detail}} : errorResponse(error);
  }
}

/** Texts that no other software can repeat: compared up to the mark. */
function withoutVolatile(body: ErrorBody, {response, volatile = []}: HttpCase): unknown {
  const expected = response.body?.error;
  if (!expected || !body.error) return body;
  const entries = Object.entries(body.error).map(([key, value]) => {
    const wanted = expected[key as keyof typeof expected];
    const isCut = volatile.includes(`error.${key}`) && typeof wanted === 'string' && wanted.endsWith('…');
    const isSame = isCut && String(value ?? '').startsWith(wanted.slice(0, -1));
    return [key, isSame || (isCut && wanted === '…') ? wanted : value];
  });
  return {error: Object.fromEntries(entries)};
}

const cases = hasSharedData
  ? readGoldenLines<HttpCase>('chat-completions.jsonl').filter(
      ({flags, request}) => flags.length === 0 && request.method === 'POST' && request.path === '/v1/chat/completions',
    )
  : [];
const refused = cases.filter(({response}) => response.status === 400);

describe.skipIf(!hasSharedData)('recorded refusals of chat bodies', () => {
  const byType = refused.filter(({response}) => response.body?.error?.type === 'Bad Request');

  it.each(byType.map((golden) => [golden.name, golden] as const))('type check: %s', (_name, golden) => {
    const refusal = refusalOf(golden);
    expect(refusal?.status).toBe(400);
    expect(withoutVolatile(refusal?.body as ErrorBody, golden)).toEqual(golden.response.body);
  });

  const early = refused.filter((golden) => !byType.includes(golden) && refusalOf(golden) !== null);

  it.each(early.map((golden) => [golden.name, golden] as const))('first check: %s', (_name, golden) => {
    expect(withoutVolatile(refusalOf(golden)?.body as ErrorBody, golden)).toEqual(golden.response.body);
  });

  it('covers both kinds', () => {
    expect([byType.length > 60, early.length > 40]).toEqual([true, true]);
  });

  const accepted = cases.filter(({response}) => response.status === 200);

  it.each(accepted.map((golden) => [golden.name, golden] as const))('lets pass: %s', (_name, golden) => {
    expect(refusalOf(golden)).toBeNull();
  });
});
