/** `/openapi.json`, and the same as a page under `/docs` and `/redoc`. Made when somebody first asks. */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {normalizeRootPath} from '../normalize-url.ts';
import {type ApiDocument, apiDocument} from '../openapi/api-document.ts';
import {docsPage} from '../openapi/docs-page.ts';
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerDocs(routes: RouteTable, {version, options}: ServerContext): void {
  let document: ApiDocument | null = null;
  const open = () => {
    const facts = {version, rootPath: normalizeRootPath(options.rootPath), asksForKey: options.apiKey.length > 0};
    document ??= apiDocument(routes.entries(), facts);
    return document;
  };
  const showPage = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send(docsPage(open()));
  routes.add('GET', '/openapi.json', (_request, reply) => sendJson(reply, 200, open()));
  routes.add('GET', '/docs', showPage);
  routes.add('GET', '/redoc', showPage);
}
