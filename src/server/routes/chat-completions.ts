/**
 * `POST /v1/chat/completions`: body to request, request to events, events to a stream or a whole answer. Until the
 * events begin every error is a plain HTTP error; in a stream later ones are events (section "errors in a stream").
 */
import {randomBytes} from 'node:crypto';
import type {OutgoingHttpHeaders} from 'node:http';
import type {FastifyReply, FastifyRequest} from 'fastify';
import {OverloadedError, ValidationError} from '../../core/errors.ts';
import type {Generation} from '../../core/llm.ts';
import type {ChatEvent} from '../../core/parsers/events.ts';
import {
  type ChatCompletionRequest,
  type ChatRequestReader,
  createChatRequestReader,
  DEFAULT_MAX_STOP_STRINGS,
} from '../../core/protocol/openai/chat-completion.ts';
import type {ActiveRequest} from '../active-requests.ts';
import {chatStreamError, isServerFault} from '../error-response.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import type {AnswerContext} from '../openai/answer-context.ts';
import {ChatChunks, type StreamOptions} from '../openai/chat-chunks.ts';
import {readOutputs} from '../openai/chat-outputs.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {clientRequestId} from '../plugins/request-id.ts';
import {readJsonBody} from '../read-body.ts';
import {checkRequestPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerOptions} from '../server-config.ts';
import type {ServerContext} from '../server-context.ts';
import {SseWriter} from '../sse/sse-writer.ts';
import {unixSeconds} from '../unix-seconds.ts';

const SHUTDOWN_MESSAGE = 'The server is shutting down. Please try again later or on a different instance.';
const NUM_DATA_PARALLEL_RANKS = 1;

/** One request on its way through this route. */
interface ChatCall {
  request: FastifyRequest;
  reply: FastifyReply;
  chat: ChatCompletionRequest;
  active: ActiveRequest;
  answer: AnswerContext;
  generation: Generation;
  events: AsyncGenerator<ChatEvent, void, undefined>;
}

export function registerChatCompletions(routes: RouteTable, context: ServerContext): void {
  const readChat = createChatRequestReader({maxStopStrings: maxStopStrings()});
  const ignoredFields = new IgnoredFields(context.logger);
  routes.add('POST', '/v1/chat/completions', async (request, reply) => {
    if (context.isStopping()) throw new OverloadedError(SHUTDOWN_MESSAGE);
    const chat = readChatRequest(request, readChat, ignoredFields);
    checkRequestPolicy(chat, context);
    return answerChat(request, reply, chat, context);
  });
}

function maxStopStrings(): number {
  return Number(process.env.VLLM_MAX_STOP_STRINGS) || DEFAULT_MAX_STOP_STRINGS;
}

function readChatRequest(
  request: FastifyRequest,
  readChat: ChatRequestReader,
  ignoredFields: IgnoredFields,
): ChatCompletionRequest {
  const body = readJsonBody((request.body as Buffer | undefined) ?? null, request.clientContentType);
  const chat = readChat(body);
  ignoredFields.report(body);
  const priority = integerHeader(request, 'x-vllm-priority');
  return priority === null ? chat : {...chat, priority};
}

/** An integer of a header; null when it is missing or something else. */
function integerHeader({headers}: FastifyRequest, name: string): number | null {
  const value = headers[name];
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : null;
}

/** `chatcmpl-` and the client's id, else random digits. */
function completionId(request: FastifyRequest, chat: ChatCompletionRequest): string {
  return `chatcmpl-${clientRequestId(request) ?? chat.request_id ?? randomBytes(8).toString('hex')}`;
}

async function answerChat(
  request: FastifyRequest,
  reply: FastifyReply,
  chat: ChatCompletionRequest,
  context: ServerContext,
): Promise<FastifyReply> {
  const active = context.activeRequests.open();
  request.completionId = completionId(request, chat);
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) active.end('client-gone');
  });
  active.signal.addEventListener('abort', () => logEnd(request, active, context));
  try {
    const call = await startCall(request, reply, chat, active, context);
    return chat.stream ? await streamAnswer(call, context) : await sendWholeAnswer(call, context);
  } finally {
    active.done();
  }
}

function logEnd(request: FastifyRequest, {signal}: ActiveRequest, {logger}: ServerContext): void {
  if (signal.reason !== 'client-gone') return;
  const {id: requestId, completionId} = request;
  logger.info({requestId, completionId}, `client closed the connection, request ${completionId} aborted`);
}

async function startCall(
  request: FastifyRequest,
  reply: FastifyReply,
  chat: ChatCompletionRequest,
  active: ActiveRequest,
  context: ServerContext,
): Promise<ChatCall> {
  const requestId = request.completionId as string;
  const generation = await context.llm.startChat(chat, {requestId, signal: active.signal}).catch((error: unknown) => {
    throw active.signal.reason === 'shutdown' ? new OverloadedError(SHUTDOWN_MESSAGE, {cause: error}) : error;
  });
  const answer = answerContext(requestId, chat, generation, context);
  const events = withRankCheck(request, generation.events);
  return {request, reply, chat, active, answer, generation, events};
}

function answerContext(
  id: string,
  chat: ChatCompletionRequest,
  {prompts}: Generation,
  {servedModelNames, systemFingerprint, options}: ServerContext,
): AnswerContext {
  return {
    id,
    created: unixSeconds(),
    model: servedModelNames[0],
    role: answerRole(chat, options),
    systemFingerprint,
    promptTokenIds: prompts[0]!.tokenIds,
    promptText: prompts[0]!.text,
    returnTokenIds: chat.return_token_ids,
    returnPromptText: chat.return_prompt_text,
    returnWeightVersions: chat.return_weight_versions,
  };
}

/** Without a generation prompt the model goes on in the role of the last message. */
function answerRole({add_generation_prompt, messages}: ChatCompletionRequest, {responseRole}: ServerOptions): string {
  return add_generation_prompt ? responseRole : (messages.at(-1)?.role ?? responseRole);
}

/** An engine check: like the others of its kind it fails when the events are first read. */
async function* withRankCheck(
  request: FastifyRequest,
  events: AsyncGenerator<ChatEvent, void, undefined>,
): AsyncGenerator<ChatEvent, void, undefined> {
  const rank = integerHeader(request, 'x-data-parallel-rank');
  if (rank !== null && (rank < 0 || rank >= NUM_DATA_PARALLEL_RANKS)) {
    throw new ValidationError(`data_parallel_rank ${rank} is out of range [0, ${NUM_DATA_PARALLEL_RANKS}).`);
  }
  yield* events;
}

function streamOptions(
  {stream_options, stream_interval}: ChatCompletionRequest,
  options: ServerOptions,
): StreamOptions {
  const isForced = options.enableForceIncludeUsage;
  const atEnd = isForced || (stream_options?.include_usage ?? false);
  return {
    interval: Math.max(stream_interval ?? 1, options.streamInterval),
    usage: {
      atEnd,
      inEachChunk: isForced || (atEnd && (stream_options?.continuous_usage_stats ?? false)),
      withPromptDetails: options.enablePromptTokensDetails,
    },
  };
}

async function streamAnswer(call: ChatCall, context: ServerContext): Promise<FastifyReply> {
  const {reply, chat, answer} = call;
  const chunks = new ChatChunks(answer, chat.n, streamOptions(chat, context.options));
  const writer = new SseWriter(reply.raw, {keepAliveSeconds: context.options.sseKeepAliveInterval});
  reply.hijack();
  writer.open(reply.getHeaders() as OutgoingHttpHeaders);
  try {
    await sendChunks(call, chunks, writer);
  } catch (error) {
    reportStreamError(call, error, context);
    await writer.send([chatStreamError(error)]);
  }
  await writer.end();
  return reply;
}

async function sendChunks({active, answer, generation, events}: ChatCall, chunks: ChatChunks, writer: SseWriter) {
  for await (const output of readOutputs(events)) await writer.send(chunks.push(output));
  if (active.signal.aborted) await writer.send(chunks.abort());
  const promptTokens = answer.promptTokenIds.length;
  await writer.send(chunks.end({promptTokens, cachedTokens: generation.cachedTokens() ?? 0}));
}

function reportStreamError({request}: ChatCall, error: unknown, {logger}: ServerContext): void {
  const {id: requestId, completionId} = request;
  if (isServerFault(error)) logger.error({requestId, completionId, err: error}, 'request failed in mid stream');
}

async function sendWholeAnswer(call: ChatCall, context: ServerContext): Promise<FastifyReply> {
  const {reply, chat, answer, active, generation, events} = call;
  const whole = new WholeAnswer(chat.n);
  for await (const output of readOutputs(events)) whole.push(output);
  if (active.signal.aborted) whole.abort();
  const usageFormat = {withPromptDetails: context.options.enablePromptTokensDetails};
  return sendJson(reply, 200, whole.toResponse(answer, generation.cachedTokens() ?? 0, usageFormat));
}
