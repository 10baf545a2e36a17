/**
 * A vLLM server over a fake model: the routes that our client asks, in the form of the recorded traffic, on a real port. It
 * can be ended and started again on the same port, as a replica of a deployment is.
 */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {text as readText} from 'node:stream/consumers';
import type {EngineClient} from '../../src/core/engine/client/engine-client.ts';
import {startInProcessEngine} from '../../src/core/engine/client/in-process-client.ts';
import type {EngineRequest, SequenceOutput} from '../../src/core/engine/protocol.ts';
import {EngineDeadError, OverloadedError, ValidationError} from '../../src/core/errors.ts';
import type {ConstraintKind} from '../../src/core/sampling/output-constraint.ts';
import type {TokenLogprobs} from '../../src/core/sampling/token-logprobs.ts';
import type {TokenVocabulary} from '../../src/core/sampling/token-vocabulary.ts';
import {parseJson} from '../../src/core/util/parse-json.ts';
import {outputConstraint} from './constrained-text.ts';
import {fakeEngineConfig} from './fake-engine-config.ts';
import {type FakeModelName, loadFakeModel} from './fake-models.ts';
import {samplingParams} from './sampling-params.ts';

export interface FakeVllmOptions {
  model?: FakeModelName;
  config?: Parameters<typeof fakeEngineConfig>[1];
  names?: string[];
  maxModelLen?: number;
  vocabSize?: number;
  /** Of which requests must carry one. */
  apiKey?: string;
  /** False: started without `--enable-scale-out`. */
  takesTokens?: boolean;
  /** What `/tokenize` answers. */
  encode?: (text: string) => number[] | Promise<number[]>;
  /** Answers a request of the token route in another way than the model would; true = done. */
  intercept?: (response: ServerResponse, body: WireBody) => boolean;
  port?: number;
  host?: string;
  /** The path that stands before every route, as behind a proxy. */
  prefix?: string;
  /** Speaks TLS with this certificate. */
  tls?: {cert: Buffer; key: Buffer};
}

export type WireBody = Record<string, unknown> & {
  token_ids: number[];
  stream?: boolean;
  request_id?: string;
  sampling_params: Record<string, unknown>;
};

const localAddress = '127.0.0.1';

/** One token for each character, as our side has it, too. */
export function fakeEncode(text: string): number[] {
  return [...text].map((character) => character.codePointAt(0)! % 64);
}

export class FakeVllm {
  readonly url: string;
  readonly port: number;
  /** Bodies of the token route, but for those that a front sends when it starts. */
  readonly bodies: WireBody[] = [];
  numConnections = 0;
  /** Other than 200: what the token route answers to everything, while `/health` says that all is well. */
  tokenRouteStatus = 200;
  /** True: no route answers, connections stay open. */
  isSilent = false;
  readonly #server: Server;
  readonly #engine: EngineClient;
  readonly #options: FakeVllmOptions;

  private constructor(server: Server, engine: EngineClient, options: FakeVllmOptions) {
    this.#server = server;
    this.#engine = engine;
    this.#options = options;
    this.port = (server.address() as AddressInfo).port;
    const {tls, prefix = '', host = localAddress} = options;
    const authority = `${host.includes(':') ? `[${host}]` : host}:${this.port}`;
    this.url = `${tls ? 'https' : 'http'}://${authority}${prefix}`;
    server.on('connection', () => this.numConnections++);
    server.on('request', (request, response) => {
      this.#answer(request, response).catch((error: Error) => {
        if (!response.headersSent) sendError(response, error);
        else response.destroy();
      });
    });
  }

  static async start(options: FakeVllmOptions = {}): Promise<FakeVllm> {
    const config = fakeEngineConfig(options.model ?? 'plain', options.config);
    const engine = startInProcessEngine({model: await loadFakeModel(config, () => {}), config});
    const {tls, port = 0, host = localAddress} = options;
    const server = tls ? createTlsServer(tls) : createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return new FakeVllm(server, engine, options);
  }

  numOpenRequests(): number {
    return this.#engine.numOpenRequests();
  }

  /** Ends it as a crash does: connections are cut in the middle. */
  async kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await Promise.all([closed, this.#engine.close()]);
  }

  provideVocabulary(make: () => TokenVocabulary): void {
    this.#engine.provideVocabulary(make);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const {apiKey, takesTokens = true, prefix = ''} = this.#options;
    if (this.isSilent) return;
    if (!request.url!.startsWith(prefix)) return send(response, 404, {detail: 'Not Found'});
    const route = request.url!.slice(prefix.length);
    const body = (await readText(request)) || '{}';
    const isGuarded = /^\/(v1|inference)/.test(route);
    if (isGuarded && apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      return send(response, 401, {error: 'Unauthorized'});
    }
    if (route === '/health') return void response.writeHead(this.#engine.isAlive() ? 200 : 503).end();
    if (route === '/version') return send(response, 200, {version: '0.33.0'});
    if (route === '/v1/models') return send(response, 200, {object: 'list', data: this.#cards()});
    if (route === '/tokenize') return send(response, 200, await this.#tokens(JSON.parse(body)));
    if (route === '/reset_prefix_cache') {
      this.#engine.resetPrefixCache();
      return void response.writeHead(200).end();
    }
    if (route !== '/inference/v1/generate') return send(response, 404, {detail: 'Not Found'});
    if (!takesTokens) {
      return send(response, 403, errorBody(403, 'PermissionDeniedError', 'Scale-out endpoints are disabled.'));
    }
    await this.#generate(parseJson(body) as WireBody, response);
  }

  #cards() {
    const {names = ['fake'], maxModelLen = 4096} = this.#options;
    return names.map((id) => ({id, object: 'model', owned_by: 'vllm', parent: null, max_model_len: maxModelLen}));
  }

  async #tokens({prompt}: {prompt: string}) {
    const tokens = await (this.#options.encode ?? fakeEncode)(prompt);
    return {count: tokens.length, max_model_len: 4096, tokens, token_strs: null};
  }

  async #generate(body: WireBody, response: ServerResponse): Promise<void> {
    const {vocabSize = 64, intercept} = this.#options;
    if (this.tokenRouteStatus !== 200) return send(response, this.tokenRouteStatus, {error: 'broken'});
    const unknownId = body.token_ids.find((tokenId) => tokenId >= vocabSize);
    if (unknownId !== undefined) throw new ValidationError(`Token id ${unknownId} is out of vocabulary`);
    // What a front asks when it starts needs no model.
    if (body.request_id === undefined)
      return send(response, 200, {choices: [{token_ids: [1], finish_reason: 'length'}]});
    this.bodies.push(body);
    if (intercept?.(response, body)) return;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const outputs = this.#engine.generate(toEngineRequest(body), {signal: gone.signal});
    if (body.stream) await streamOutputs(outputs, body, response);
    else await sendWhole(outputs, body, response);
  }
}

const numberOr = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback);

function toEngineRequest({token_ids, request_id, sampling_params: given, ...rest}: WireBody): EngineRequest {
  const {seed} = given;
  const sampling = samplingParams({
    temperature: numberOr(given.temperature, 1),
    maxTokens: numberOr(given.max_tokens, 16),
    seed: seed === undefined ? null : BigInt(seed as number | bigint),
    stopTokenIds: (given.stop_token_ids as number[] | undefined) ?? [],
    logitBias: Object.entries((given.logit_bias as object | undefined) ?? {}).map(([id, bias]) => [Number(id), bias]),
    allowedTokenIds: (given.allowed_token_ids as number[] | undefined) ?? null,
    logprobs: (given.logprobs as number | undefined) ?? null,
    logprobTokenIds: (given.logprob_token_ids as number[] | undefined) ?? null,
    promptLogprobs: (given.prompt_logprobs as number | undefined) ?? null,
    constraint: constraintOf(given.structured_outputs as Record<string, unknown> | undefined),
    // The end token of the server's tokenizer.
    eosTokenId: given.structured_outputs === undefined ? null : 63,
  });
  return {
    requestId: request_id ?? 'probe',
    promptTokenIds: token_ids,
    sampling,
    priority: numberOr(rest.priority, 0),
    cacheSalt: (rest.cache_salt as string | undefined) ?? null,
  };
}

function constraintOf(fields: Record<string, unknown> | undefined) {
  const [kind, value] = Object.entries(fields ?? {})[0] ?? [];
  if (kind === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return outputConstraint({kind: kind as ConstraintKind, text});
}

async function streamOutputs(
  outputs: AsyncGenerator<SequenceOutput, void, undefined>,
  {token_ids}: WireBody,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
  response.flushHeaders();
  const write = (event: object | string) =>
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  const seen: SequenceOutput[] = [];
  try {
    for await (const output of outputs) {
      seen.push(output);
      write(chunk([choiceOf(output)], null));
    }
    write(chunk([], usageOf(token_ids, seen)));
  } catch (error) {
    write(bodyOf(error as Error));
  }
  write('[DONE]');
  response.end();
}

function chunk(choices: object[], usage: object | null): object {
  return {request_id: 'generate-tokens-1', usage, output_mode: 'tokens', choices};
}

async function sendWhole(
  outputs: AsyncGenerator<SequenceOutput, void, undefined>,
  {token_ids}: WireBody,
  response: ServerResponse,
): Promise<void> {
  const seen: SequenceOutput[] = [];
  for await (const output of outputs) seen.push(output);
  const whole = {
    ...seen.at(-1)!,
    newTokenIds: seen.flatMap(({newTokenIds}) => newTokenIds),
    logprobs: seen[0]!.logprobs && seen.flatMap(({logprobs}) => logprobs ?? []),
  };
  send(response, 200, {
    request_id: 'generate-tokens-1',
    usage: usageOf(token_ids, seen),
    prompt_logprobs: promptField(seen.find(({promptLogprobs}) => promptLogprobs)?.promptLogprobs ?? null),
    output_mode: 'tokens',
    choices: [choiceOf(whole)],
  });
}

function usageOf(promptTokenIds: number[], seen: readonly SequenceOutput[]) {
  const completionTokens = seen.reduce((sum, {newTokenIds}) => sum + newTokenIds.length, 0);
  return {
    prompt_tokens: promptTokenIds.length,
    total_tokens: promptTokenIds.length + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: {cached_tokens: seen[0]?.numCachedTokens ?? 0},
  };
}

function choiceOf({newTokenIds, finishReason, stopReason, logprobs}: SequenceOutput) {
  return {
    index: 0,
    finish_reason: finishReason,
    stop_reason: stopReason,
    token_ids: newTokenIds,
    routed_experts: null,
    sampling_mask: null,
    weight_versions: finishReason && [{version: 'default', start: 0, end: newTokenIds.length}],
    logprobs: logprobs && {content: logprobs.map(positionOf)},
  };
}

function positionOf(position: TokenLogprobs) {
  const candidates = position.map(({tokenId, logprob, rank}) => ({token_id: tokenId, logprob, rank}));
  return {...candidates[0]!, top_logprobs: candidates};
}

function promptField(positions: (TokenLogprobs | null)[] | null) {
  const fieldOf = (position: TokenLogprobs) =>
    Object.fromEntries(position.map(({tokenId, logprob, rank}) => [tokenId, {logprob, rank}]));
  return positions?.map((position) => position && fieldOf(position)) ?? null;
}

function errorBody(code: number, type: string, message: string) {
  return {error: {message, type, param: null, code}};
}

function bodyOf(error: Error) {
  if (error instanceof ValidationError) return errorBody(400, 'BadRequestError', error.message);
  if (error instanceof OverloadedError) return errorBody(503, 'Service Unavailable', error.message);
  const isDead = error instanceof EngineDeadError;
  const message = isDead ? 'The server had an error while processing your request.' : 'Internal server error';
  return errorBody(500, 'InternalServerError', message);
}

function sendError(response: ServerResponse, error: Error): void {
  const body = bodyOf(error);
  send(response, body.error.code, body);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body));
}
