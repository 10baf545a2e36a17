/** What is compared with: a server that hands the bytes of the fake deployment on as they come, and does nothing else. */
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text as readText} from 'node:stream/consumers';
import {Agent} from 'undici';

const origin = process.argv[2]!;
const agent = new Agent({connections: null, bodyTimeout: 0, headersTimeout: 0});

const server = createServer(async (request, response) => {
  const {max_tokens} = JSON.parse(await readText(request)) as {max_tokens: number};
  const body = JSON.stringify({request_id: 'relay', token_ids: [1], stream: true, sampling_params: {max_tokens}});
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
  agent.dispatch(
    {origin, path: '/inference/v1/generate', method: 'POST', headers: {'content-type': 'application/json'}, body},
    {
      onRequestStart() {},
      onResponseData: (_controller, bytes: Buffer) => void response.write(bytes),
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    },
  );
});

server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
