import {createServer, type RequestListener} from 'node:http';
import type {AddressInfo} from 'node:net';
import {describe, expect, it, onTestFinished} from 'vitest';
import {HttpBackend} from '../../../src/chat/backend/http-backend.ts';

/** A backend for a server that answers like this, behind a list with one model. */
async function open(listener: RequestListener, {listsModels = true} = {}) {
  const server = createServer((request, response) => {
    if (listsModels && request.url === '/v1/models') response.end('{"data":[{"id":"m"}]}');
    else listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backend = new HttpBackend({url, modelName: null, apiKey: null});
  onTestFinished(async () => {
    await backend.close();
    server.closeAllConnections();
    server.close();
  });
  return {backend, url};
}

/** The text until the end, and how that was. */
async function ask(backend: HttpBackend): Promise<string> {
  let text = '';
  try {
    const options = {signal: new AbortController().signal};
    for await (const event of backend.answer({messages: [{role: 'user', content: 'hi'}]}, options)) {
      if (event.type === 'text-delta') text += event.text;
    }
    return `${text}.`;
  } catch (error) {
    return `${text}! ${(error as Error).name}: ${(error as Error).message}`;
  }
}

const chunk = (content: string) => `data: ${JSON.stringify({choices: [{delta: {content}}]})}\n\n`;

describe('HttpBackend', () => {
  it('says that a server went away in the middle of an answer', async () => {
    const {backend} = await open((_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write(chunk('half'), () => setTimeout(() => response.destroy(), 20));
    });
    expect(await ask(backend)).toMatch(
      /^half! ConnectionLostError: The connection ended in the middle of the answer \(/,
    );
  });

  it('says that a list of models broke off', async () => {
    const listener: RequestListener = (_, response) => {
      response.setHeader('content-length', 100);
      response.write('{"data":', () => setTimeout(() => response.destroy(), 20));
    };
    const {backend} = await open(listener, {listsModels: false});
    await expect(backend.ready()).rejects.toThrow('The connection ended in the middle of the answer');
  });

  it.each([
    {
      status: 401,
      body: '{"error":{"message":"Unauthorized"}}',
      says: 'Unauthorized (401 from /v1/chat/completions). --api',
    },
    {status: 500, body: '<html><style>p {}</style><h1>Oh\u001b[2J</h1>no</html>', says: 'Oh␛[2J no (500 from'},
    {status: 502, body: '', says: 'no reason given (502 from'},
  ])('gives the reason of a $status in words that are safe', async ({status, body, says}) => {
    const {backend} = await open((_, response) => void response.writeHead(status).end(body));
    expect(await ask(backend)).toContain(says);
  });

  it('names the request where the server does', async () => {
    const {backend} = await open((_, response) => {
      response.writeHead(400, {'x-request-id': 'abc'}).end('{"error":{"message":"too long"}}');
    });
    expect(await ask(backend)).toContain('too long (400 from /v1/chat/completions, request abc)');
  });

  it('asks whether the address is right where there are no models', async () => {
    const {backend, url} = await open((_, response) => void response.writeHead(404).end(), {listsModels: false});
    await expect(backend.ready()).rejects.toThrow(`(404 from /v1/models). Is ${url} the right address?`);
  });

  it('says that a server does not speak https', async () => {
    const {url} = await open((_, response) => void response.end());
    const backend = new HttpBackend({url: url.replace('http', 'https'), modelName: null, apiKey: null});
    onTestFinished(() => backend.close());
    await expect(backend.ready()).rejects.toThrow('It does not speak https; try http://.');
  });
});
