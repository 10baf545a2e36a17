/** The socket before there is a request: what Node refuses gets a status that says why. */
import {PassThrough} from 'node:stream';
import {text} from 'node:stream/consumers';
import {expect, it} from 'vitest';
import {createHttpServer} from '../../../src/server/http-server.ts';

it.each([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout'],
  ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'HTTP/1.1 413 Payload Too Large'],
  ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request'],
])('%s is answered with %s, and the connection ends', async (code, statusLine) => {
  const socket = new PassThrough();
  createHttpServer().server.emit('clientError', Object.assign(new Error('refused'), {code}), socket);
  expect(await text(socket)).toBe(`${statusLine}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
});

it('has an end for headers and bodies that come slowly', () => {
  const {server} = createHttpServer();
  expect(server.headersTimeout).toBeGreaterThan(0);
  expect(server.requestTimeout).toBeGreaterThan(0);
});
