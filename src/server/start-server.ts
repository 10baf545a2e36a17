/**
 * From options to a running server: the port first, then the model, then requests; and back again. `stop` ends running
 * requests in order and closes the engine; the end of the engine ends the server too. Signals and exit codes belong to
 * the command.
 */
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {checkDeployment} from '../core/config/deployment-options.ts';
import {type Llm, type LoadedLlm, type LoadLlmOptions, type LoadProgress, loadLlm} from '../core/llm.ts';
import type {Logger} from '../core/util/logger.ts';
import {findPackageRoot} from '../core/util/package-root.ts';
import {ActiveRequests} from './active-requests.ts';
import {buildApp} from './build-app.ts';
import {checkServerOptions} from './check-options.ts';
import type {EndpointPlugin} from './endpoint-plugins/endpoint-plugin.ts';
import {loadPlugins} from './endpoint-plugins/load-plugins.ts';
import {createHttpServer, type HttpServer} from './http-server.ts';
import {listen, listenOnSocket, urlOf} from './listen.ts';
import {GUARDED_PREFIXES} from './plugins/auth.ts';
import {servedNames} from './served-names.ts';
import type {ServeOptions, ServerOptions} from './server-config.ts';
import {startThroughputLog} from './throughput-log.ts';
import {readTlsOptions} from './tls.ts';
import {startTlsRefresh} from './tls-refresh.ts';

/** Shows how far the loading is. */
export interface ProgressReporter {
  report(progress: LoadProgress): void;
}

export type LoadModel = (
  options: LoadLlmOptions,
  context: {logger: Logger; onProgress: (progress: LoadProgress) => void; signal: AbortSignal},
) => Promise<Pick<LoadedLlm, 'llm' | 'templateSource'> & {files: {displayName: string}}>;

export interface StartContext {
  reporter: ProgressReporter;
  logger: Logger;
  /** Replaces the loading of a real model. */
  loadModel?: LoadModel;
}

export interface ServerEnd {
  reason: 'stopped' | 'engine-death';
  error?: Error;
}

export interface RunningServer {
  /** `http://host:port`, `https://…` or `unix:/path`. */
  url: string;
  /** 0 with a Unix socket. */
  port: number;
  /** The name that answers carry. */
  modelName: string;
  llm: Llm;
  /** Ends running requests, closes connections and the engine. May be called twice. */
  stop(reason: string): Promise<void>;
  /** Resolves when everything is closed. */
  readonly closed: Promise<ServerEnd>;
}

/** Time for the last bytes of answers that were ended. */
const CLOSE_GRACE_MS = 3000;
/** After the engine's death the server answers errors for this long, so that clients and probes see it. */
const ENGINE_DEATH_LINGER_MS = 2000;

/**
 * @throws UsageError when the address cannot be bound (exit code 4) or an option is wrong; ModelError when the model
 *   cannot be loaded. Nothing stays open then.
 */
export async function startServer(options: ServeOptions, context: StartContext): Promise<RunningServer> {
  checkServerOptions(options.server);
  if (options.deployment) checkDeployment(options.deployment);
  const tls = await readTlsOptions(options.server);
  const plugins = await loadPlugins(options.server.plugin);
  const {h11MaxIncompleteEventSize: maxHeaderBytes, h11MaxHeaderCount: maxHeaderCount} = options.server;
  const http = createHttpServer({tls, maxHeaderBytes, maxHeaderCount});
  const place = await bindServer(http, options.server);
  try {
    const loaded = await loadModel(options, context);
    const server = new ServingProcess(http, place, loaded, options, context);
    http.serve(await openApp(server, plugins, loaded));
    return server;
  } catch (error) {
    await http.close(0);
    throw error;
  }
}

/** Where the server listens. */
interface Place {
  url: string;
  /** 0 with a Unix socket. */
  port: number;
}

async function bindServer({server}: HttpServer, {uds, host, port, sslCertfile}: ServerOptions): Promise<Place> {
  if (uds !== null) {
    await listenOnSocket(server, uds);
    return {url: `unix:${uds}`, port: 0};
  }
  const boundPort = await listen(server, {host, port});
  const protocol = sslCertfile === null ? 'http' : 'https';
  return {url: urlOf({host, port: boundPort}, protocol), port: boundPort};
}

/** A plugin may fail; the engine is stopped then. */
async function openApp(server: ServingProcess, plugins: EndpointPlugin[], {llm}: {llm: Llm}) {
  try {
    return await server.openApp(plugins);
  } catch (error) {
    await llm.close();
    throw error;
  }
}

function loadModel(
  {model, source, server, engine, deployment}: ServeOptions,
  {reporter, logger, loadModel = loadLlm}: StartContext,
) {
  const options: LoadLlmOptions = {
    model,
    ...(source && {source}),
    servedModelName: server.servedModelName[0] ?? null,
    chatTemplate: server.chatTemplate,
    chatTemplateContentFormat: server.chatTemplateContentFormat,
    defaultChatTemplateKwargs: server.defaultChatTemplateKwargs,
    generationConfig: server.generationConfig,
    overrideGenerationConfig: server.overrideGenerationConfig,
    excludeToolsWhenToolChoiceNone: server.excludeToolsWhenToolChoiceNone,
    escapeControlTokens: server.escapeControlTokens,
    answers: {...server, enforcesStrictToolCalling: enforcesStrictToolCalling()},
    engine,
    ...(deployment && {deployment}),
  };
  const onProgress = (progress: LoadProgress) => reporter.report(progress);
  return loadModel(options, {logger, onProgress, signal: new AbortController().signal});
}

/** On unless the environment says otherwise. */
function enforcesStrictToolCalling(): boolean {
  return !['0', 'false'].includes((process.env.VLLM_ENFORCE_STRICT_TOOL_CALLING ?? '').toLowerCase());
}

async function programVersion(): Promise<string> {
  const text = await readFile(join(findPackageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as {version: string}).version;
}

/** In the order in which they are asked. */
const KEY_VARIABLES = ['VLLM_API_KEY', 'PARLANCE_API_KEY'];

/** Says that keys are asked for, and when they come from the environment; never a key itself. */
function logApiKeys({apiKey}: ServerOptions, logger: Logger): void {
  if (apiKey.length === 0) return;
  const variable = KEY_VARIABLES.find((name) => apiKey.length === 1 && apiKey[0] === process.env[name]);
  const source = variable ? `, taken from ${variable}` : '';
  const keys = `${apiKey.length} ${apiKey.length === 1 ? 'key' : 'keys'}${source}`;
  logger.info(
    {},
    `API key check is on (${keys}) below ${GUARDED_PREFIXES.join(', ')}; other paths, such as /invocations and /tokenize, are open, as in vLLM`,
  );
}

/** Everything that lives from "loaded" to "closed". */
class ServingProcess implements RunningServer {
  readonly url: string;
  readonly port: number;
  readonly modelName: string;
  readonly llm: Llm;
  readonly closed: Promise<ServerEnd>;
  readonly #http: HttpServer;
  readonly #options: ServerOptions;
  readonly #modelRoot: string;
  readonly #logger: Logger;
  readonly #activeRequests = new ActiveRequests();
  /** Ends what runs beside the answers. */
  readonly #stopHelpers: (() => void)[] = [];
  #isStopping = false;
  #death: Error | null = null;
  #stopped: Promise<void> | null = null;
  #resolveClosed: (end: ServerEnd) => void = () => {};

  constructor(
    http: HttpServer,
    {url, port}: Place,
    {llm, files, templateSource}: Awaited<ReturnType<LoadModel>>,
    options: ServeOptions,
    {logger}: StartContext,
  ) {
    this.#http = http;
    this.#options = options.server;
    this.#logger = logger;
    this.#modelRoot = options.model ?? files.displayName;
    this.llm = llm;
    this.url = url;
    this.port = port;
    this.modelName = servedNames(options.server, llm.modelInfo, this.#modelRoot)[0]!;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    if (!options.server.disableLogStats) this.#stopHelpers.push(startThroughputLog(llm, logger));
    if (options.server.enableSslRefresh) this.#stopHelpers.push(startTlsRefresh(http, options.server, logger));
    logger.info({}, `Chat template: ${templateSource}`);
    logApiKeys(options.server, logger);
    llm.death.then((error) => this.#onEngineDeath(error));
  }

  async openApp(plugins: EndpointPlugin[]) {
    const app = buildApp({
      plugins,
      llm: this.llm,
      options: this.#options,
      modelRoot: this.#modelRoot,
      version: await programVersion(),
      logger: this.#logger,
      activeRequests: this.#activeRequests,
      isStopping: () => this.#isStopping,
    });
    await app.ready();
    return app.routing;
  }

  async stop(reason: string): Promise<void> {
    this.#stopped ??= this.#close(reason);
    await this.#stopped;
  }

  async #close(reason: string): Promise<void> {
    this.#isStopping = true;
    this.#logger.info({}, `Stopping (${reason}): ${this.#activeRequests.size} requests are running`);
    await this.#drain();
    this.#activeRequests.endAll('shutdown');
    await this.#http.close(CLOSE_GRACE_MS);
    for (const stop of this.#stopHelpers) stop();
    await this.llm.close();
    this.#logger.info({}, 'Stopped');
    this.#resolveClosed(this.#death ? {reason: 'engine-death', error: this.#death} : {reason: 'stopped'});
  }

  /** Lets running requests go on for `--shutdown-timeout`, with a line each second. */
  async #drain(): Promise<void> {
    const deadline = Date.now() + this.#options.shutdownTimeout * 1000;
    while (this.#activeRequests.size > 0 && Date.now() < deadline) {
      const waitMs = Math.min(1000, deadline - Date.now());
      await Promise.race([this.#activeRequests.idle(), delay(waitMs)]);
      if (this.#activeRequests.size > 0) {
        this.#logger.info({}, `Waiting for ${this.#activeRequests.size} requests to finish`);
      }
    }
  }

  /** Open requests fail by themselves, and the engine's client has logged why; probes get to see 503 before the server goes. */
  async #onEngineDeath(error: Error): Promise<void> {
    this.#death = error;
    const isKept = process.env.VLLM_KEEP_ALIVE_ON_ENGINE_DEATH === '1';
    const whatNow = isKept ? 'stays (VLLM_KEEP_ALIVE_ON_ENGINE_DEATH)' : `ends in ${ENGINE_DEATH_LINGER_MS / 1000} s`;
    this.#logger.error({}, `No engine is left: requests get an error, the server ${whatNow}`);
    if (isKept) return;
    await delay(ENGINE_DEATH_LINGER_MS);
    await this.stop('the engine died');
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
