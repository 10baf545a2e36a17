/**
 * A server that writes its answers byte by byte as a test wants them: any framing, any end, any cut. Requests name the
 * answer they want in their body (`{"shape": "…"}`), everything else is answered as a server without such routes does.
 */
import {createServer as createPlainServer, type Socket} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {createServer as createTlsServer, type TlsOptions} from 'node:tls';
import {nowMs} from '../../src/core/util/clock.ts';

export interface RawAnswer {
  /** Bytes before the body; chunked is added by the framing. */
  status?: string;
  headers?: readonly string[];
  /** `chunked`, or bytes that end with the connection as in HTTP/1.0. */
  framing?: 'chunked' | 'until-closed';
  /** Written after these waits. */
  writes: readonly {afterMs: number; bytes: string | Uint8Array}[];
  /** What happens when all is written: a proper end, one and then a closed connection, a connection without an end. */
  ends?: 'properly' | 'and-closes' | 'never' | 'torn';
  /** Each byte is a write of its own. */
  isBytewise?: boolean;
}

export interface RawRequest {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
}

export interface RawStreamServer {
  port: number;
  requests: RawRequest[];
  /** When each write of the answers of a shape was made, with its last byte; the last request of that shape counts. */
  writtenMs: Map<string, number[]>;
  close(): void;
}

export interface RawServerOptions {
  answers: Readonly<Record<string, RawAnswer>>;
  host?: string;
  /** Path before that of the endpoint. */
  prefix?: string;
  tls?: TlsOptions;
  /** Refuses requests with this field, as strict servers do. */
  refusedField?: string;
}

/** Listens on a free port; `close` ends open connections, too. */
export async function startRawStreamServer(options: RawServerOptions): Promise<RawStreamServer> {
  const requests: RawRequest[] = [];
  const writtenMs = new Map<string, number[]>();
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    readRequests(socket, (request) => {
      requests.push(request);
      return respond(socket, request, options, writtenMs);
    });
  };
  const server = options.tls ? createTlsServer(options.tls, onSocket) : createPlainServer({noDelay: true}, onSocket);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, options.host ?? '127.0.0.1', resolve);
  });
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {port: (server.address() as {port: number}).port, requests, writtenMs, close};
}

const headEnd = '\r\n\r\n';

/** One request after the other on a connection, each with a whole body. */
function readRequests(socket: Socket, answer: (request: RawRequest) => Promise<void>): void {
  let received = Buffer.alloc(0);
  let last: Promise<void> = Promise.resolve();
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let end = received.indexOf(headEnd); end >= 0; end = received.indexOf(headEnd)) {
      const [first = '', ...lines] = received.subarray(0, end).toString().split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(': ')[0].toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
      );
      const bodyEnd = end + headEnd.length + Number(headers['content-length'] ?? 0);
      if (received.length < bodyEnd) return;
      const text = received.subarray(end + headEnd.length, bodyEnd).toString();
      received = received.subarray(bodyEnd);
      const request = {path: first.split(' ')[1], headers, body: text === '' ? {} : JSON.parse(text)};
      last = last.then(() => answer(request));
    }
  });
}

async function respond(
  socket: Socket,
  {path, body}: RawRequest,
  {answers, prefix = '', refusedField}: RawServerOptions,
  writtenMs: Map<string, number[]>,
): Promise<void> {
  if (path === `${prefix}/v1/models`) return writeJson(socket, '200 OK', {data: [{id: 'org/raw'}]});
  if (path !== `${prefix}/v1/chat/completions`) return writeJson(socket, '404 Not Found', {detail: 'Not Found'});
  if (refusedField !== undefined && refusedField in body) {
    return writeJson(socket, '400 Bad Request', {error: {message: `Unrecognized field: ${refusedField}`}});
  }
  const shape = String(body.shape ?? 'usual');
  const times: number[] = [];
  writtenMs.set(shape, times);
  await writeAnswer(socket, answers[shape], times);
}

function writeJson(socket: Socket, status: string, value: unknown): void {
  const text = JSON.stringify(value);
  socket.write(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}${headEnd}${text}`,
  );
}

async function writeAnswer(socket: Socket, answer: RawAnswer, times: number[]): Promise<void> {
  const {status = '200 OK', headers = ['content-type: text/event-stream'], framing = 'chunked', writes} = answer;
  const isChunked = framing === 'chunked';
  const version = isChunked ? 'HTTP/1.1' : 'HTTP/1.0';
  const lines = [`${version} ${status}`, ...headers, ...(isChunked ? ['transfer-encoding: chunked'] : [])];
  socket.write(lines.join('\r\n') + headEnd);
  for (const {afterMs, bytes} of writes) {
    await delay(afterMs);
    let lastMs = nowMs();
    for (const piece of pieces(Buffer.from(bytes as string), answer.isBytewise === true)) {
      socket.write(isChunked ? chunk(piece) : piece);
      if (!answer.isBytewise) continue;
      await new Promise(setImmediate);
      lastMs = nowMs();
    }
    times.push(lastMs);
  }
  end(socket, answer.ends ?? 'properly', isChunked);
}

function pieces(bytes: Buffer, isBytewise: boolean): Buffer[] {
  return isBytewise ? Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)) : [bytes];
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function end(socket: Socket, how: NonNullable<RawAnswer['ends']>, isChunked: boolean): void {
  if (how === 'never') return;
  if (how === 'torn') return void socket.destroy();
  if (isChunked) socket.write('0\r\n\r\n');
  if (how === 'and-closes' || !isChunked) socket.end();
}
