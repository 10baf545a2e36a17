/** A server while it starts, served from a folder by its path: named cases of public reports on the built program. */
import {symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {capitalQuestion, postChat} from '../support/chat-stream.ts';
import {embeddedModelFolder} from '../support/embedded-model.ts';
import {freePort} from '../support/free-port.ts';
import {startServe} from '../support/serve-process.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

/** What `/health` says from the first moment on, until it says 200; null = nobody listens. */
async function healthUntilWell(url: string): Promise<(number | null)[]> {
  const seen: (number | null)[] = [];
  while (seen.at(-1) !== 200) {
    await delay(1);
    seen.push(
      await fetch(`${url}/health`).then(
        ({status}) => status,
        () => null,
      ),
    );
  }
  return seen;
}

it('PR-reliability-03, PR-api-13: health is never good too early; metrics name the served model', async () => {
  const cwd = await createTemporaryFolder({'models/README': 'models'});
  await symlink(embeddedModelFolder, join(cwd, 'models/m'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const starting = startServe({cwd, argv: ['./models/m', '--port', String(port), '--max-model-len', '256']});
  const seen = await healthUntilWell(url);
  const reply = await postChat(url, {messages: capitalQuestion, max_tokens: 4});
  expect(reply.status).toBe(200);
  const {model} = (await reply.json()) as {model: string};
  expect([...new Set(seen.slice(0, -1))].filter((status) => status !== null && status !== 503)).toEqual([]);
  const page = await (await fetch(`${url}/metrics`)).text();
  expect(page).not.toMatch(/="(undefined|null)?"[,}]/);
  const models = new Set([...page.matchAll(/model_name="([^"]*)"/g)].map(([, name]) => name));
  expect([...models]).toEqual([model]);
  await (await starting).stop();
});
