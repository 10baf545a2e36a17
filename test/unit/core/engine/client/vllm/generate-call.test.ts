/** Connections of requests to the token route: what a slow reader does to them. */
import {expect, it} from 'vitest';
import {engineRequest} from '../../../../../support/build-engine.ts';
import {collect} from '../../../../../support/collect.ts';
import {fakeDeployment} from '../../../../../support/fake-deployment.ts';

const {serve, connect} = fakeDeployment();

it('gives its connection back when it ends while much is unread', async () => {
  const chunk = (token_ids: number[], finish_reason: string | null) =>
    `data: ${JSON.stringify({choices: [{token_ids, finish_reason}]})}\n\n`;
  const many = Array.from({length: 600}, () => 1);
  const server = await serve({
    intercept: (response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'});
      response.end(`${chunk(many, null)}${chunk([1], 'stop')}data: [DONE]\n\n`);
      return true;
    },
  });
  const {client} = await connect([server.url]);
  await collect(client.generate(engineRequest('first', [1, 2])));
  const {numConnections} = server;
  for (let i = 0; i < 5; i++) await collect(client.generate(engineRequest(`r${i}`, [1, 2])));
  expect(server.numConnections - numConnections).toBeLessThanOrEqual(1);
});
