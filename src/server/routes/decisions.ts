/**
 * `POST /v1/decisions` and `POST /v1/systemone`: questions answered from the probabilities of label tokens. Only a few
 * model families can do that and none of ours; a well-formed request gets 501 (vllm/entrypoints/openai/decisions).
 */
import type * as z from 'zod';
import {UnsupportedError} from '../../core/errors.ts';
import {laxDict, laxList, laxObject, laxString, nullable} from '../../core/protocol/openai/lax-types.ts';
import {parseWithSchema} from '../../core/protocol/openai/schema-errors.ts';
import {readJsonBody} from '../read-body.ts';
import type {RouteTable} from '../route-table.ts';

export const decisionsRequestSchema = laxObject({
  model: nullable(laxString()),
  questions: laxList(laxDict()),
});

export const systemOneRequestSchema = laxDict();

const ROUTES: {path: string; schema: z.ZodType; message: string}[] = [
  {
    path: '/v1/decisions',
    schema: decisionsRequestSchema,
    message: 'The model does not support the Decisions API',
  },
  {
    path: '/v1/systemone',
    schema: systemOneRequestSchema,
    message: 'The model does not support the structured decision API',
  },
];

export function registerDecisions(routes: RouteTable): void {
  for (const {path, schema, message} of ROUTES) {
    routes.add('POST', path, (request) => {
      parseWithSchema(schema, readJsonBody((request.body as Buffer | undefined) ?? null, request.clientContentType));
      throw new UnsupportedError(message, {param: null, showsParameter: false});
    });
  }
}
