/**
 * Runs the code of the client a few times before anything is measured, against a canned stream on a socket of its own.
 * The first run of code that was never called takes tens of milliseconds, which would be in the first latencies.
 */
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {PlannedRequest} from '../request-record.ts';
import {StreamClient} from './stream-client.ts';

const numRequests = 12;
const numEvents = 40;

const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({choices: [{index: 0, delta, finish_reason}], usage: {prompt_tokens: 1, completion_tokens: 1}})}\n\n`;
const cannedStream = [
  ...Array.from({length: numEvents}, (_, index) => chunk({content: `word ${index}`}, null)),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];

export async function warmUpCode(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, {'content-type': 'text/event-stream'});
    for (const event of cannedStream) response.write(event);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  const client = new StreamClient({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    maxConnections: 2,
    isInsecure: false,
    limits: {first: 1, idle: 1, total: 1},
  });
  const {signal} = new AbortController();
  await Promise.all(Array.from({length: numRequests}, (_, index) => client.send(requestNumber(index), 0, signal)));
  await client.close();
  server.close();
}

function requestNumber(index: number): PlannedRequest {
  return {
    index,
    requestId: `warm-up-code-${index}`,
    body: {},
    promptTokens: null,
    outputTokens: null,
    sourceId: null,
    turn: 0,
    cancelAfterEvents: null,
  };
}
