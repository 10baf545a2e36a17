/** Recorded answers of the reference fit the schemas by which the API description shows answers. */
import {describe, expect, it} from 'vitest';
import type * as z from 'zod';
import * as answers from '../../src/server/openapi/answer-schemas.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

interface GoldenCase {
  name: string;
  request: {method: string; path: string; body?: {stream?: boolean}};
  response: {status: number; headers: Record<string, string>; body?: unknown; sse?: string[]};
}

const wholeAnswers: Record<string, z.ZodType> = {
  '/v1/chat/completions': answers.chatAnswer,
  '/v1/chat/completions/batch': answers.chatAnswer,
  '/v1/completions': answers.completionAnswer,
  '/v1/models': answers.modelList,
  '/tokenize': answers.tokenizeAnswer,
  '/detokenize': answers.detokenizeAnswer,
  '/inference/v1/generate': answers.generateAnswer,
  '/v1/chat/completions/render': answers.renderedRequest,
  '/v1/completions/render': answers.renderedRequest.array(),
  '/version': answers.versionAnswer,
  '/load': answers.loadAnswer,
};

const chunks: Record<string, z.ZodType> = {
  '/v1/chat/completions': answers.chatChunk,
  '/v1/completions': answers.completionChunk,
};

const cases = hasSharedData ? readGoldenLines<GoldenCase>('chat-completions.jsonl') : [];

function faultsOf(schema: z.ZodType, name: string, value: unknown): string[] {
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map(({path, message}) => `${name}: ${path.join('.')}: ${message}`);
}

function eventsOf({response}: GoldenCase): unknown[] {
  const texts = (response.sse ?? []).map((line) => line.slice('data: '.length));
  return texts.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text));
}

describe.skipIf(!hasSharedData)('recorded answers', () => {
  it.each(Object.entries(wholeAnswers))('of %s fit their schema', (path, schema) => {
    const answered = cases.filter(({request, response}) => request.path === path && response.status === 200);
    const whole = answered.filter(({response}) => response.body !== undefined);
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.flatMap(({name, response}) => faultsOf(schema, name, response.body))).toEqual([]);
  });

  it.each(Object.entries(chunks))('of %s fit the schema of their chunks', (path, schema) => {
    const streams = cases.filter(({request, response}) => request.path === path && response.sse !== undefined);
    const events = streams.flatMap((stream) => eventsOf(stream).map((event) => ({name: stream.name, event})));
    expect(events.length).toBeGreaterThan(20);
    const either = schema.or(answers.errorAnswer);
    const faults = events.filter(({event}) => !either.safeParse(event).success);
    expect(faults.flatMap(({name, event}) => faultsOf(schema, name, event)).slice(0, 20)).toEqual([]);
  });

  it('of errors fit their schema', () => {
    const errors = cases.filter(({response: {status, body}}) => status >= 400 && body !== undefined);
    const schema = answers.errorAnswer.or(answers.unauthorizedAnswer).or(answers.frameworkAnswer);
    expect(errors.flatMap(({name, response}) => faultsOf(schema, name, response.body))).toEqual([]);
  });
});
