/** What routes read from a request besides its fields: the JSON body, numbers in headers, the id of the answer. */
import {randomBytes} from 'node:crypto';
import type {FastifyRequest} from 'fastify';
import {clientRequestId} from './plugins/request-id.ts';
import {readJsonBody} from './read-body.ts';

/** @throws SchemaError, UnreadableBodyError */
export function readRequestBody(request: FastifyRequest): unknown {
  return readJsonBody((request.body as Buffer | undefined) ?? null, request.clientContentType);
}

/** An integer of a header; null when it is missing or something else. */
export function integerHeader({headers}: FastifyRequest, name: string): number | null {
  const value = headers[name];
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : null;
}

/** The request, with the priority of the header when there is one. */
export function withHeaderPriority<T extends {priority: number}>(fields: T, request: FastifyRequest): T {
  const priority = integerHeader(request, 'x-vllm-priority');
  return priority === null ? fields : {...fields, priority};
}

/** The prefix and the client's id, of the header or the body, else random digits. */
export function answerId(prefix: string, request: FastifyRequest, fields: {request_id?: string | undefined}): string {
  return `${prefix}-${clientRequestId(request) ?? fields.request_id ?? randomBytes(8).toString('hex')}`;
}
