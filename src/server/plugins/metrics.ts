/**
 * Measures what the server does, and shows it under `/metrics`: the engine's families unless `--disable-log-stats`, and
 * those of the HTTP layer. `/metrics/` and whatever is below it answer too, as does `HEAD`; the content type differs as
 * in the reference, where two applications answer.
 */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {HttpMetrics} from '../../core/metrics/http-metrics.ts';
import {MetricRegistry} from '../../core/metrics/metric-registry.ts';
import {registerProcessMetrics} from '../../core/metrics/process-metrics.ts';
import {ServingMetrics} from '../../core/metrics/serving-metrics.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';

const PAGE_TYPE = 'text/plain; version=1.0.0; charset=utf-8';
const OLDER_PAGE_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function registerMetrics(app: FastifyInstance, routes: RouteTable, context: ServerContext): void {
  const registry = new MetricRegistry();
  registerProcessMetrics(registry);
  if (!context.options.disableLogStats) measureServing(app, registry, context);
  measureHttp(app, new HttpMetrics(registry));
  const showAs = (type: string) => async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('content-type', type).send(Buffer.from(await registry.render()));
  routes.add('GET', '/metrics', showAs(PAGE_TYPE));
  const showOlder = showAs(OLDER_PAGE_TYPE);
  app.route({method: 'HEAD', url: '/metrics', handler: showOlder});
  app.route({method: ['GET', 'HEAD'], url: '/metrics/*', handler: showOlder});
}

function measureServing(app: FastifyInstance, registry: MetricRegistry, context: ServerContext): void {
  const {llm, servedModelNames} = context;
  const {maxModelLen, maxDraftTokens = 0, kvCacheTokens, kvCacheBytesPerToken} = llm.modelInfo;
  const modelName = servedModelNames[0];
  const {readsToolCalls} = llm;
  const engineStates = () => llm.engineStates();
  const facts = {
    modelName,
    maxModelLen,
    readsToolCalls,
    maxDraftTokens,
    kvCacheTokens,
    kvCacheBytesPerToken,
    engineStates,
  };
  const metrics = new ServingMetrics(registry, facts);
  const stops = [
    llm.observe(metrics),
    llm.onStats((stats, engineIndex) => metrics.onStep(stats, engineIndex)),
    llm.onToolCallsRead((reading) => metrics.onToolCallsRead(reading)),
    context.rejections.listen((reason) => metrics.onRejection(reason)),
  ];
  app.addHook('onClose', async () => {
    for (const stop of stops) stop();
  });
}

function measureHttp(app: FastifyInstance, metrics: HttpMetrics): void {
  app.addHook('onResponse', async (request, reply) => {
    metrics.onExchange({
      handler: request.is404 ? null : (request.routeOptions.url ?? null),
      method: request.method,
      status: reply.raw.statusCode,
      requestBytes: byteCount(request.headers['content-length']),
      responseBytes: byteCount(reply.getHeader('content-length')),
      seconds: reply.elapsedTime / 1000,
    });
  });
}

/** Of a `content-length` header; 0 when it is missing. */
function byteCount(header: unknown): number {
  return Number(header ?? 0) || 0;
}
