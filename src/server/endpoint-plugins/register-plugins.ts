/** Lets plugins add their routes, and carries requests and answers between the HTTP library and their handlers. */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {UsageError} from '../../core/errors.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';
import type {EndpointPlugin, PluginRoute, PluginServer} from './endpoint-plugin.ts';

export function registerPlugins(
  app: FastifyInstance,
  routes: RouteTable,
  plugins: readonly EndpointPlugin[],
  context: ServerContext,
): void {
  for (const plugin of plugins) plugin.register(pluginServer(app, routes, plugin.name, context));
}

function pluginServer(app: FastifyInstance, routes: RouteTable, name: string, context: ServerContext): PluginServer {
  const {version, servedModelNames, llm, logger} = context;
  return {
    version,
    servedModelNames,
    maxModelLen: llm.modelInfo.maxModelLen,
    logger,
    addRoute: (route) => addRoute(routes, name, route),
    fetch: (path, init) => askSelf(app, path, init),
  };
}

function addRoute(routes: RouteTable, plugin: string, {method, path, summary, handler}: PluginRoute): void {
  if (routes.methodsOf(path).includes(method)) {
    throw new UsageError(`The plugin ${plugin} adds ${method} ${path}, which exists already`);
  }
  routes.add(method, path, async (request, reply) => reply.send(await handler(toWebRequest(request, reply))), {
    summary: summary ?? `Added by the plugin ${plugin}`,
  });
}

function toWebRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const client = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) client.abort();
  });
  return new Request(`${request.protocol}://${request.host || 'localhost'}${request.url}`, {
    method: request.method,
    headers: clientHeaders(request),
    signal: client.signal,
    ...(request.method === 'POST' && {body: (request.body as Buffer<ArrayBuffer> | undefined) ?? new Uint8Array()}),
  });
}

/** As the client sent them: the content type is replaced on the way in. */
function clientHeaders({headers, clientContentType}: FastifyRequest): Headers {
  const entries = Object.entries(headers).filter(([name]) => name !== 'content-type');
  const pairs = entries.flatMap(([name, value]) => [value ?? []].flat().map((text): [string, string] => [name, text]));
  return new Headers(clientContentType === undefined ? pairs : [...pairs, ['content-type', clientContentType]]);
}

async function askSelf(
  app: FastifyInstance,
  ...[path, init = {}]: Parameters<PluginServer['fetch']>
): Promise<Response> {
  const {method = 'GET', headers = {}, body} = init;
  const answer = await app.inject({method, url: path, headers, ...(body !== undefined && {payload: body})});
  const pairs = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((text): [string, string] => [name, String(text)]),
  );
  const hasBody = answer.rawPayload.length > 0;
  return new Response(hasBody ? new Uint8Array(answer.rawPayload) : null, {status: answer.statusCode, headers: pairs});
}
