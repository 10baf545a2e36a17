/**
 * The HTTP application on an `Llm`: plugins from outside to inside, then routes. It does not listen; `start-server.ts`
 * gives it a socket, tests use `inject`.
 */
import Fastify, {type FastifyInstance} from 'fastify';
import type {Llm} from '../core/llm.ts';
import {type Logger, silentLogger} from '../core/util/logger.ts';
import {ActiveRequests} from './active-requests.ts';
import type {EndpointPlugin} from './endpoint-plugins/endpoint-plugin.ts';
import {registerPlugins} from './endpoint-plugins/register-plugins.ts';
import {normalizeRootPath, normalizeUrl} from './normalize-url.ts';
import {registerAccessLog} from './plugins/access-log.ts';
import {registerAuth} from './plugins/auth.ts';
import {registerBodyLogs} from './plugins/body-logs.ts';
import {registerCors} from './plugins/cors.ts';
import {registerErrorHandlers} from './plugins/error-handler.ts';
import {registerLoadReport} from './plugins/load-report.ts';
import {registerLoadTracking} from './plugins/load-tracking.ts';
import {registerMetrics} from './plugins/metrics.ts';
import {registerRawBody} from './plugins/raw-body.ts';
import {makeRequestId, registerRequestIdHeader} from './plugins/request-id.ts';
import {Rejections} from './rejections.ts';
import {createRequestLog} from './request-log.ts';
import {RouteTable} from './route-table.ts';
import {registerAbortRequests} from './routes/abort-requests.ts';
import {registerChatBatch} from './routes/chat-batch.ts';
import {registerChatCompletions} from './routes/chat-completions.ts';
import {registerCompletions} from './routes/completions.ts';
import {registerDecisions} from './routes/decisions.ts';
import {registerDerender} from './routes/derender.ts';
import {registerDocs} from './routes/docs.ts';
import {registerGenerate} from './routes/generate.ts';
import {registerHealth} from './routes/health.ts';
import {registerInvocations} from './routes/invocations.ts';
import {registerKvEventSources} from './routes/kv-event-sources.ts';
import {registerLaterScaleOut} from './routes/later-scale-out.ts';
import {registerLoad} from './routes/load.ts';
import {registerModels} from './routes/models.ts';
import {registerRender} from './routes/render.ts';
import {registerResetPrefixCache} from './routes/reset-prefix-cache.ts';
import {isDevMode, registerServerInfo} from './routes/server-info.ts';
import {registerTokenize} from './routes/tokenize.ts';
import {registerTokenizerInfo} from './routes/tokenizer-info.ts';
import {registerVersion} from './routes/version.ts';
import {sendJson} from './send-json.ts';
import {servedNames} from './served-names.ts';
import type {ServerOptions} from './server-config.ts';
import type {ServerContext} from './server-context.ts';
import {systemFingerprint} from './system-fingerprint.ts';

export interface AppOptions {
  llm: Llm;
  options: ServerOptions;
  /** The model argument as the user gave it; the served name when there is no other. */
  modelRoot: string;
  version: string;
  logger?: Logger;
  /** Add their routes after all others. */
  plugins?: EndpointPlugin[];
  activeRequests?: ActiveRequests;
  isStopping?: () => boolean;
}

function serverContext(options: AppOptions): ServerContext {
  const logger = options.logger ?? silentLogger;
  return {
    llm: options.llm,
    options: options.options,
    logger,
    activeRequests: options.activeRequests ?? new ActiveRequests(),
    servedModelNames: servedNames(options.options, options.llm.modelInfo, options.modelRoot),
    modelRoot: options.modelRoot,
    version: options.version,
    systemFingerprint: systemFingerprint(options.options, options.version, fingerprintFacts(options)),
    isStopping: options.isStopping ?? (() => false),
    logRequest: createRequestLog(options.options, logger),
    rejections: new Rejections(),
  };
}

/** What answers depend on, without what changes from start to start. */
function fingerprintFacts({llm, modelRoot}: AppOptions) {
  const {architecture, vocabSize, maxModelLen, weightBytes, device, runtimeVersion} = llm.modelInfo;
  return {modelRoot, architecture, vocabSize, maxModelLen, weightBytes, device, runtimeVersion};
}

export function buildApp(appOptions: AppOptions): FastifyInstance {
  const context = serverContext(appOptions);
  const {options, logger} = context;
  const rootPath = normalizeRootPath(options.rootPath);
  const app = Fastify({
    rewriteUrl: ({url}) => normalizeUrl(url ?? '/', rootPath),
    bodyLimit: options.maxBodyBytes,
    exposeHeadRoutes: false,
    genReqId: makeRequestId,
    forceCloseConnections: false,
    frameworkErrors: (_error, _request, reply) => sendJson(reply, 404, {detail: 'Not Found'}),
  });
  app.decorateRequest('completionId', undefined);
  registerAccessLog(app, options, logger);
  registerBodyLogs(app, options, logger);
  if (options.enableRequestIdHeaders) registerRequestIdHeader(app);
  registerAuth(app, options.apiKey);
  registerCors(app, options);
  registerLoadReport(app, context.llm);
  registerRawBody(app);
  const routes = new RouteTable(app);
  registerErrorHandlers(app, {...options, logger, routes});
  registerHealth(routes, context);
  registerVersion(routes, context);
  registerLoad(routes, options.enableServerLoadTracking ? registerLoadTracking(app) : () => 0);
  registerMetrics(app, routes, context);
  registerKvEventSources(routes);
  registerDecisions(routes);
  if (isDevMode()) registerDevRoutes(routes, context);
  registerModels(routes, context);
  registerChatCompletions(routes, context);
  registerRender(routes, context);
  registerGenerate(routes, context);
  registerAbortRequests(routes, context);
  registerDerender(routes, context);
  registerLaterScaleOut(routes, context);
  registerCompletions(routes, context);
  registerChatBatch(routes, context);
  registerInvocations(routes, context);
  registerTokenize(routes, context);
  if (options.enableTokenizerInfoEndpoint) registerTokenizerInfo(routes, context);
  if (!options.disableFastapiDocs) registerDocs(routes, context);
  registerPlugins(app, routes, appOptions.plugins ?? [], context);
  for (const {method, path} of routes.entries()) logger.debug({}, `Route: ${method} ${path}`);
  return app;
}

function registerDevRoutes(routes: RouteTable, context: ServerContext): void {
  registerServerInfo(routes, context);
  registerResetPrefixCache(routes, context);
}
