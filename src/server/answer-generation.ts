/**
 * From a checked request to bytes, for every endpoint that generates: start it, then events to outputs to a stream or a
 * whole answer in the endpoint's form. Until the events begin every error is a plain HTTP error; in a stream later ones
 * are events. A client that leaves and a server that stops end the generation.
 */
import type {OutgoingHttpHeaders} from 'node:http';
import type {FastifyReply, FastifyRequest} from 'fastify';
import {OverloadedError, ValidationError} from '../core/errors.ts';
import type {Generation} from '../core/llm.ts';
import {openStream, readItems} from '../core/util/item-stream.ts';
import type {ActiveRequest} from './active-requests.ts';
import {isServerFault} from './error-response.ts';
import {type ChatOutput, OutputJoiner, pushOutputs} from './openai/chat-outputs.ts';
import {integerHeader} from './read-request.ts';
import {sendJson} from './send-json.ts';
import type {ServerContext} from './server-context.ts';
import {SseWriter} from './sse/sse-writer.ts';

export const SHUTDOWN_MESSAGE = 'The server is shutting down. Please try again later or on a different instance.';

/** Which of several engines a client wants. */
const RANK_HEADER = 'x-data-parallel-rank';

/** What was counted, over all prompts. */
export interface PromptCounts {
  promptTokens: number;
  /** Prompt tokens from the prefix cache. */
  cachedTokens: number;
}

/** The chunks of one stream, as JSON. */
export interface StreamForm {
  push(output: ChatOutput): string[];
  /** Ends the choices that are still open, with what they have. */
  abort(): string[];
  end(counts: PromptCounts): string[];
  /** The event for an error. */
  errorEvent(error: unknown): string;
}

/** One whole answer. */
export interface WholeForm {
  push(output: ChatOutput): void;
  abort(): void;
  /** Called when every choice has ended. */
  toResponse(counts: PromptCounts): object;
}

export type AnswerForm = {stream: StreamForm} | {whole: WholeForm};

/** One request of an endpoint, checked. */
export interface GenerationCall {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Of the answer, `chatcmpl-…`. */
  id: string;
  start: (options: {requestId: string; signal: AbortSignal; engineIndex?: number}) => Promise<Generation>;
  /** Called when nothing can be refused any more. */
  openForm: (generation: Generation) => AnswerForm;
}

export async function answerGeneration(call: GenerationCall, context: ServerContext): Promise<FastifyReply> {
  const {request, reply, id} = call;
  const active = context.activeRequests.open(id);
  request.completionId = id;
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) active.end('client-gone');
  });
  active.signal.addEventListener('abort', () => logEnd(request, active, context));
  try {
    const generation = await start(call, active);
    const running: RunningCall = {
      request,
      reply,
      active,
      generation,
      events: withRankCheck(request, context.logRequest(id, generation), context),
    };
    const form = call.openForm(generation);
    return 'stream' in form
      ? await streamAnswer(running, form.stream, context)
      : await sendWholeAnswer(running, form.whole);
  } finally {
    active.done();
  }
}

interface RunningCall {
  request: FastifyRequest;
  reply: FastifyReply;
  active: ActiveRequest;
  generation: Generation;
  events: Events;
}

function logEnd(request: FastifyRequest, {signal}: ActiveRequest, {logger}: ServerContext): void {
  if (signal.reason !== 'client-gone') return;
  const {id: requestId, completionId} = request;
  logger.info({requestId, completionId}, `client closed the connection, request ${completionId} aborted`);
}

function start({start, id, request}: GenerationCall, {signal}: ActiveRequest): Promise<Generation> {
  const rank = integerHeader(request, RANK_HEADER);
  return start({requestId: id, signal, ...(rank !== null && {engineIndex: rank})}).catch((error: unknown) => {
    throw signal.reason === 'shutdown' ? new OverloadedError(SHUTDOWN_MESSAGE, {cause: error}) : error;
  });
}

type Events = Generation['events'];

function withRankCheck(request: FastifyRequest, events: Events, {llm}: ServerContext): Events {
  const rank = integerHeader(request, RANK_HEADER);
  const numRanks = llm.engineStates().length;
  const isInRange = rank === null || (rank >= 0 && rank < numRanks);
  if (isInRange) return events;
  // An engine check: like the others of its kind it fails when the events are first read.
  return openStream(async () => {
    throw new ValidationError(`data_parallel_rank ${rank} is out of range [0, ${numRanks}).`);
  });
}

function countsOf(generation: Generation): PromptCounts {
  const promptTokens = generation.prompts.reduce((sum, {tokenIds}) => sum + tokenIds.length, 0);
  return {promptTokens, cachedTokens: generation.cachedTokens() ?? 0};
}

async function streamAnswer(call: RunningCall, form: StreamForm, context: ServerContext): Promise<FastifyReply> {
  const {reply} = call;
  const writer = new SseWriter(reply.raw, {keepAliveSeconds: context.options.sseKeepAliveInterval});
  reply.hijack();
  writer.open(reply.getHeaders() as OutgoingHttpHeaders);
  try {
    await sendChunks(call, form, writer);
  } catch (error) {
    reportStreamError(call, error, context);
    await writer.send([form.errorEvent(error)]);
  }
  await writer.end();
  return reply;
}

async function sendChunks({active, generation, events}: RunningCall, form: StreamForm, writer: SseWriter) {
  const joiner = new OutputJoiner();
  try {
    await readItems(events, (event) => {
      const output = joiner.push(event);
      return output === null ? undefined : writer.send(form.push(output));
    });
  } finally {
    for (const output of joiner.rest()) await writer.send(form.push(output));
  }
  if (active.signal.aborted) await writer.send(form.abort());
  await writer.send(form.end(countsOf(generation)));
}

function reportStreamError({request}: RunningCall, error: unknown, {logger}: ServerContext): void {
  const {id: requestId, completionId} = request;
  if (isServerFault(error)) logger.error({requestId, completionId, err: error}, 'request failed in mid stream');
}

async function sendWholeAnswer({reply, active, generation, events}: RunningCall, form: WholeForm) {
  await pushOutputs(events, form);
  if (active.signal.aborted) form.abort();
  return sendJson(reply, 200, form.toResponse(countsOf(generation)));
}
