/**
 * A server that streams like an engine: at every step each running request gets one event, all at the same moment. It
 * costs as little as it can (a plain socket, bytes made beforehand), so that a load generator beside it has the processor
 * for itself. Runs as a process of its own: `tsx test/perf/stepping-server.ts PORT STEP_MS TOKENS`.
 */
import {createServer, type Socket} from 'node:net';

const [port = 0, stepMs = 50, numTokens = 64] = process.argv.slice(2).map(Number);
const endOfHead = '\r\n\r\n';

const chunk = (text: string) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

function eventOf(place: number) {
  return event({
    id: 'chatcmpl-stepping',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'stepping',
    choices: [
      {index: 0, delta: {content: ' token'}, logprobs: null, finish_reason: place === numTokens - 1 ? 'length' : null},
    ],
    usage: {prompt_tokens: 16, total_tokens: 17 + place, completion_tokens: place + 1},
  });
}

const usage = event({
  choices: [],
  usage: {prompt_tokens: 16, total_tokens: 16 + numTokens, completion_tokens: numTokens},
});
const events = Array.from({length: numTokens}, (_, place) => chunk(eventOf(place)));
const end = Buffer.concat([chunk(usage + event('[DONE]')), Buffer.from('0\r\n\r\n')]);
const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
);

interface Stream {
  socket: Socket;
  numSent: number;
}
let streams: Stream[] = [];

function step(): void {
  for (const stream of streams) {
    stream.socket.write(events[stream.numSent]);
    stream.numSent++;
    if (stream.numSent === numTokens) stream.socket.write(end);
  }
  streams = streams.filter(({numSent, socket}) => numSent < numTokens && !socket.destroyed);
}

/** Steps keep their distance on the clock, however long one took. */
function stepAt(timeMs: number): void {
  setTimeout(
    () => {
      step();
      stepAt(timeMs + stepMs);
    },
    Math.max(0, timeMs - performance.now()),
  );
}

function answerOf(head: string, socket: Socket): void {
  if (head.startsWith('POST')) {
    socket.write(streamHead);
    streams.push({socket, numSent: 0});
    return;
  }
  const isModels = head.startsWith('GET /v1/models ');
  const body = JSON.stringify(isModels ? {data: [{id: 'stepping', max_model_len: 1_000_000}]} : {});
  const status = isModels ? '200 OK' : '404 Not Found';
  socket.write(`HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

const server = createServer({noDelay: true}, (socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes as Buffer]);
    const headEnd = received.indexOf(endOfHead);
    if (headEnd < 0) return;
    const head = received.toString('latin1', 0, headEnd);
    const bodyEnd = headEnd + endOfHead.length + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (received.length < bodyEnd) return;
    received = received.subarray(bodyEnd);
    answerOf(head, socket);
  });
});
server.listen(port, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
  stepAt(performance.now() + stepMs);
});
