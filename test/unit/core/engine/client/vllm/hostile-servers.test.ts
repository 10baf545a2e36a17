/** vLLM servers that do harm in ways of their own: what is refused, who is taken out, and that no request is lost by it. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, it} from 'vitest';
import type {EngineClient} from '../../../../../../src/core/engine/client/engine-client.ts';
import {EngineDeadError, ModelError} from '../../../../../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../../../../../support/build-engine.ts';
import {collect, collectUntilError} from '../../../../../support/collect.ts';
import {tokensIn} from '../../../../../support/engine-clients.ts';
import {enginesUp, fakeDeployment, impatientHealth} from '../../../../../support/fake-deployment.ts';
import {greedyContinuation} from '../../../../../support/fake-model-runner.ts';
import {until} from '../../../../../support/until.ts';

const {serve, kill, connect} = fakeDeployment();
const impatient = {healthTimes: impatientHealth};

/** Asks for tokens of a prompt of its own. */
async function ask(client: EngineClient, seed: number, maxTokens = 4): Promise<void> {
  const prompt = fakePrompt(12, seed);
  const outputs = await collect(client.generate(engineRequest(`r${seed}`, prompt, {maxTokens})));
  expect(tokensIn(outputs)).toEqual(greedyContinuation(prompt, {maxTokens}));
}

describe('names', () => {
  it('are those that all servers have', async () => {
    const [one, other] = [await serve({names: ['a', 'b']}), await serve({names: ['c', 'b']})];
    const {client} = await connect([one.url, other.url]);
    expect(client.info.servedNames).toEqual(['b']);
    for (const seed of [1, 2, 3, 4]) await ask(client, seed);
    expect([...one.bodies, ...other.bodies].map(({model}) => model)).toEqual(['b', 'b', 'b', 'b']);
  });

  it('tell different models apart', async () => {
    const [one, other] = [await serve({names: ['llama']}), await serve({names: ['qwen']})];
    const starting = connect([one.url, other.url]);
    await expect(starting).rejects.toThrow(`${other.url} serves qwen, but the servers before it llama.`);
    await expect(starting).rejects.toBeInstanceOf(ModelError);
  });

  it('must still be there when a server comes back', async () => {
    const [one, other] = [await serve(), await serve()];
    const {client, logger} = await connect([one.url, other.url]);
    await kill(other);
    await until(() => !enginesUp(client)[1]!);
    const {port} = other;
    const changed = await serve({port, names: ['else']});
    await delay(150);
    expect(enginesUp(client)).toEqual([true, false]);
    await kill(changed);
    await serve({port});
    await until(() => enginesUp(client)[1]!);
    expect(logger.matching('engine is back')).toHaveLength(1);
  });
});

describe('addresses', () => {
  const tlsFile = (name: string) => readFileSync(join(import.meta.dirname, '../../../../../support/tls', name));

  it('with a certificate that nobody knows are refused, with what helps', async () => {
    const {url} = await serve({tls: {cert: tlsFile('localhost-cert.pem'), key: tlsFile('localhost-key.pem')}});
    await expect(connect([url])).rejects.toThrow(
      /SELF_SIGNED_CERT, its certificate is not trusted here\. .*NODE_EXTRA_CA_CERTS/,
    );
  });

  it('with https:// where no TLS is spoken are refused', async () => {
    const {port} = await serve();
    await expect(connect([`https://127.0.0.1:${port}`])).rejects.toThrow(/it speaks no TLS there\. Use http:/);
  });

  it('where nobody ever answers are refused in time', async () => {
    const server = await serve();
    server.isSilent = true;
    await expect(connect([server.url], impatient)).rejects.toThrow(/cannot be reached: no answer in time/);
  });
});

describe('a server that fails on every request and calls itself well', () => {
  it.each([401, 403, 404, 500, 502])('with status %i is taken out, and back when it works', async (status) => {
    const [bad, good] = [await serve(), await serve()];
    const {client, logger} = await connect([bad.url, good.url]);
    bad.tokenRouteStatus = status;
    for (let seed = 0; seed < 8; seed++) await ask(client, seed);
    await until(() => !enginesUp(client)[0]!);
    expect(logger.matching('engine is out')[0]!.message).toMatch(/key|token ids|first token with status/);
    bad.tokenRouteStatus = 200;
    await until(() => enginesUp(client)[0]!);
  });

  it('stays where it is while it is only busy', async () => {
    const [busy, good] = [await serve(), await serve()];
    const {client} = await connect([busy.url, good.url]);
    busy.tokenRouteStatus = 503;
    for (let seed = 0; seed < 8; seed++) await ask(client, seed);
    expect(enginesUp(client)).toEqual([true, true]);
  });
});

describe('a server that falls silent', () => {
  it('gives what has no token yet to another one, and keeps what has', async () => {
    let isStuck = false;
    const [silent, good] = [await serve({model: 'paced', intercept: () => isStuck}), await serve()];
    const {client} = await connect([silent.url, good.url], impatient);
    const begun = client.generate(engineRequest('begun', fakePrompt(9, 99), {maxTokens: 3000}, {engineIndex: 0}));
    await begun.next();
    isStuck = true;
    const waiting = Array.from({length: 8}, (_, seed) => ask(client, seed));
    silent.isSilent = true;
    await Promise.all(waiting);
    expect(enginesUp(client)).toEqual([false, true]);
    await delay(800);
    expect((await begun.next()).done).toBe(false);
    await begun.return();
    await until(() => silent.numOpenRequests() === 0);
  });

  it('loses what gets nothing more', async () => {
    let isStuck = false;
    const silent = await serve({intercept: (response) => isStuck && response.flushHeaders() === undefined});
    const {client} = await connect([silent.url], impatient);
    isStuck = true;
    const lost = collectUntilError(client.generate(engineRequest('a', [1, 2])));
    silent.isSilent = true;
    expect(String((await lost).error)).toMatch(/server is out: .* cannot be reached: no answer in time/);
    expect(client.numOpenRequests()).toBe(0);
  });

  it('keeps what waits when there is no other', async () => {
    let isStuck = true;
    const server = await serve({intercept: () => isStuck});
    const {client} = await connect([server.url], impatient);
    const waiting = collectUntilError(client.generate(engineRequest('a', [1, 2])));
    server.isSilent = true;
    await until(() => !enginesUp(client)[0]!);
    expect(client.numOpenRequests()).toBe(1);
    expect((await waiting).error).toBeInstanceOf(EngineDeadError);
    isStuck = false;
    server.isSilent = false;
    await until(() => enginesUp(client)[0]!);
    await ask(client, 1);
  });
});

it('a server that comes and goes loses no request that has no token', async () => {
  const good = await serve({model: 'paced'});
  let flapping = await serve({model: 'paced'});
  const {port} = flapping;
  const {client} = await connect([good.url, flapping.url]);
  let [numDone, numLost] = [0, 0];
  let isOver = false;
  const reader = async (lane: number) => {
    for (let round = 0; !isOver; round++) {
      const seed = lane * 1000 + round;
      const {items, error} = await collectUntilError(
        client.generate(engineRequest(`r${seed}`, fakePrompt(9, seed), {maxTokens: 12})),
      );
      if (error === null) numDone++;
      else {
        expect(items.length, String(error)).toBeGreaterThan(0);
        numLost++;
      }
    }
  };
  const lanes = Array.from({length: 16}, (_, lane) => reader(lane));
  for (let turn = 0; turn < 6; turn++) {
    await delay(60);
    await kill(flapping);
    await delay(60);
    flapping = await serve({model: 'paced', port});
    await until(() => enginesUp(client)[1]!);
  }
  isOver = true;
  await Promise.all(lanes);
  expect(numDone).toBeGreaterThan(numLost);
  expect(client.numOpenRequests()).toBe(0);
  expect(client.numBacklogTokens()).toBe(0);
  expect([good, flapping].map((server) => server.numOpenRequests())).toEqual([0, 0]);
  expect(client.engineStates()[1]!.numRestarts).toBe(6);
});
