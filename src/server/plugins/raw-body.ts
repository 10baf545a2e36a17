/**
 * Bodies as bytes, whatever their content type says: the contract has its own rules for content types and JSON, and no
 * answer of the framework (415, its JSON errors) may reach a client. The client's content type stays available as
 * `request.clientContentType`.
 */
import type {FastifyInstance} from 'fastify';

const ANY_BYTES = 'application/octet-stream';

declare module 'fastify' {
  interface FastifyRequest {
    /** The content type as the client sent it. */
    clientContentType: string | undefined;
  }
}

export function registerRawBody(app: FastifyInstance): void {
  app.decorateRequest('clientContentType', undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(ANY_BYTES, {parseAs: 'buffer'}, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (request) => {
    const {headers} = request.raw;
    request.clientContentType = headers['content-type'];
    // The framework looks for a parser by this header, and refuses values that it finds malformed; it wants one for
    // every QUERY, whose answer is 405 here.
    if (hasBody(headers) || request.method === 'QUERY') headers['content-type'] = ANY_BYTES;
    else delete headers['content-type'];
  });
}

function hasBody(headers: NodeJS.Dict<string | string[]>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
