/** Entry of the scripted server's own process: an endpoint that streams what its script says, and a log of what it did. */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {nowMs} from '../../../src/core/util/clock.ts';
import type {Answer, Behaviour, Fault, Script, ServedRequest} from './behaviour.ts';

const script = JSON.parse(process.argv[2]) as Script;
const served: ServedRequest[] = [];
const probeAnswer: Answer = {kind: 'answer', ttftMs: 0, gapMs: 0, numTokens: 1};
let firstMs: number | null = null;

const server = createServer((request, response) => {
  response.on('error', () => {});
  void handle(request, response);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (request.url === '/v1/models') return sendJson(response, 200, {data: [{id: 'org/scripted', max_model_len: 8192}]});
  if (request.url === '/log') return sendJson(response, 200, served);
  if (request.url === '/health') return sendJson(response, 200, {});
  if (request.method !== 'POST' || !/completions$/.test(request.url ?? '')) return sendJson(response, 404, {});
  await complete(String(request.headers['x-request-id'] ?? ''), JSON.parse(body), response);
}

interface Body {
  stream?: boolean;
  messages?: ServedRequest['messages'];
  stream_options?: {continuous_usage_stats?: boolean};
}

async function complete(id: string, body: Body, response: ServerResponse): Promise<void> {
  if (script.refusesChunkUsage && body.stream_options?.continuous_usage_stats) {
    return sendJson(response, 400, {error: {message: 'continuous_usage_stats is not known in stream_options'}});
  }
  const isCounted = body.stream === false || (id !== '' && !/warmup|probe/.test(id));
  const entry: ServedRequest = {id, receivedMs: nowMs(), outputMs: [], messages: body.messages ?? []};
  if (!isCounted) return answer(probeAnswer, response, entry);
  firstMs ??= entry.receivedMs;
  served.push(entry);
  const behaviour = behaviourOf(id);
  if (body.stream === false) return answerWhole(behaviour as Answer, response);
  if (behaviour.kind === 'answer') await answer(behaviour, response, entry);
  else await fail(behaviour, response, entry);
}

function behaviourOf(id: string): Behaviour {
  const index = Number(/\d+$/.exec(id)?.[0] ?? 0);
  return script.behaviours[index % script.behaviours.length];
}

async function answerWhole({ttftMs, gapMs, numTokens}: Answer, response: ServerResponse): Promise<void> {
  await delay(ttftMs + gapMs * (numTokens - 1));
  const usage = {prompt_tokens: 10, completion_tokens: numTokens};
  sendJson(response, 200, {choices: [{index: 0, message: {content: 'x'}, finish_reason: 'stop'}], usage});
}

/** Writes events at planned times, so that a late one makes no other late. */
async function answer(plan: Answer, response: ServerResponse, entry: ServedRequest): Promise<void> {
  const {tokensPerEvent = 1, eventsPerBurst = 1, usage = 'running', form = 'usual', hasDone = true} = plan;
  openStream(response);
  const write = (data: string) => writeEvent(response, data, form);
  if (plan.isRoleFirst) await write(chunkText({role: 'assistant', content: ''}, null, null));
  const numEvents = Math.ceil(plan.numTokens / tokensPerEvent);
  for (let event = 0; event < numEvents; event++) {
    await waitUntil(entry.receivedMs + plan.ttftMs + Math.floor(event / eventsPerBurst) * plan.gapMs);
    const soFar = Math.min((event + 1) * tokensPerEvent, plan.numTokens);
    const isLast = event === numEvents - 1;
    const hasUsage = usage === 'running' || (usage === 'last-choice' && isLast);
    const delta = deltaOf(plan, event, soFar - event * tokensPerEvent);
    entry.outputMs.push(nowMs());
    await write(chunkText(delta, isLast ? 'stop' : null, hasUsage ? soFar : null));
  }
  if (usage === 'running' || usage === 'last') {
    await delay(plan.usageDelayMs ?? 0);
    await write(JSON.stringify({choices: [], usage: usageOf(plan.numTokens)}));
  }
  if (hasDone) await write('[DONE]');
  response.end();
}

function deltaOf({token = 'tok ', numReasoning = 0, isToolCall}: Answer, event: number, numTokens: number): object {
  const text = token.repeat(numTokens);
  if (isToolCall) {
    const first =
      event === 0
        ? {id: 'call_1', type: 'function', function: {name: 'look', arguments: ''}}
        : {function: {arguments: text}};
    return {tool_calls: [{index: 0, ...first}]};
  }
  return event < numReasoning ? {reasoning: text} : {content: text};
}

async function fail(fault: Fault, response: ServerResponse, entry: ServedRequest): Promise<void> {
  if (fault.kind === 'status')
    return sendJson(response, fault.status, {error: {message: `status ${fault.status} on purpose`}});
  if (fault.kind === 'reset') return void response.socket?.destroy();
  if (fault.kind === 'slow-headers') return answer({...probeAnswer, ttftMs: fault.ms}, response, entry);
  if (fault.kind === 'no-stream') return sendJson(response, 200, {object: 'chat.completion'});
  openStream(response);
  const write = (data: string) => writeEvent(response, data, 'usual');
  if (fault.kind === 'empty') {
    await write(chunkText({role: 'assistant', content: ''}, null, null));
    await write('[DONE]');
    return void response.end();
  }
  if (fault.kind === 'malformed') {
    await write('{"choices": [');
    return void response.end();
  }
  for (let event = 0; event < fault.numTokens; event++) await write(chunkText({content: 'x'}, null, event + 1));
  if (fault.kind === 'stall') return;
  if (fault.kind === 'cut') return void response.socket?.destroy();
  await write(JSON.stringify({error: {message: 'it broke on purpose', code: 500}}));
  await write('[DONE]');
  response.end();
}

function chunkText(delta: object, finishReason: string | null, numTokens: number | null): string {
  const usage = numTokens === null ? {} : {usage: usageOf(numTokens)};
  return JSON.stringify({choices: [{index: 0, delta, finish_reason: finishReason}], ...usage});
}

function usageOf(completion_tokens: number) {
  return {prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens};
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
  response.flushHeaders();
  response.socket?.setNoDelay(true);
}

async function writeEvent(response: ServerResponse, data: string, form: NonNullable<Answer['form']>): Promise<void> {
  await thaw();
  if (form === 'usual') return void response.write(`data: ${data}\n\n`);
  if (form === 'odd-lines') return void response.write(oddLines(data));
  for (const byte of Buffer.from(`data: ${data}\n\n`)) {
    response.write(Uint8Array.of(byte));
    await new Promise(setImmediate);
  }
}

/** An event as the standard allows it too: over two data lines, behind a comment, with carriage returns. */
function oddLines(data: string): string {
  const place = data.indexOf(',') + 1;
  const lines = place > 0 ? [`data:${data.slice(0, place)}`, `data:${data.slice(place)}`] : [`data:${data}`];
  return [': a comment', 'event: message', 'id: 7', 'retry: 1000', ...lines, '', ''].join('\r\n');
}

async function thaw(): Promise<void> {
  if (!script.freeze || firstMs === null) return;
  const since = nowMs() - firstMs;
  if (since >= script.freeze.fromMs && since < script.freeze.toMs) await waitUntil(firstMs + script.freeze.toMs);
}

async function waitUntil(timeMs: number): Promise<void> {
  const left = timeMs - nowMs();
  if (left > 0) await delay(left);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {'content-type': 'application/json'});
  response.end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
