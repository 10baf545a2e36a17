/** JSON answers: compact, and with the plain content type of the contract (no charset). */
import type {FastifyReply} from 'fastify';
import {writeJson} from '../core/util/write-json.ts';

/** @param body plain values; maps where the order of number-like keys counts */
export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  // As bytes: for texts the framework would write the content type in its own way.
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(writeJson(body)));
}

/** A status without a body and without a content type. */
export function sendEmpty(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).send();
}
