import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {TalkMessage} from '../../../src/chat/conversation/messages.ts';
import {settingsFromOptions} from '../../../src/chat/conversation/settings.ts';
import {chatOptionsSchema} from '../../../src/chat/options.ts';
import {newSessionId, SessionStore, SessionWriter} from '../../../src/chat/sessions/session-store.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const settings = settingsFromOptions(chatOptionsSchema.parse({temperature: 0.5}), 'be kind');
const talk: TalkMessage[] = [
  {role: 'user', content: 'a'},
  {role: 'assistant', content: 'b', reasoning: 'r'},
];

describe('sessions', () => {
  it('come back as they were, readable by the owner only', async () => {
    const folder = await createTemporaryFolder();
    const store = new SessionStore(folder);
    await new SessionWriter(store, 'one', null).save(talk, settings, 'model');
    expect(await store.read('one')).toEqual({id: 'one', model: 'model', messages: talk, settings});
    expect((await stat(join(folder, 'one.jsonl'))).mode & 0o777).toBe(0o600);
  });

  it('grow, are cut and go on', async () => {
    const store = new SessionStore(await createTemporaryFolder());
    const writer = new SessionWriter(store, 'one', null);
    await writer.save(talk, settings, 'model');
    await writer.cut(1);
    await writer.save([talk[0]!, {role: 'assistant', content: 'c'}], settings, 'model');
    expect((await store.newest()).messages.map(({content}) => content)).toEqual(['a', 'c']);
  });

  it('survive a line that was cut', async () => {
    const folder = await createTemporaryFolder({
      'x.jsonl': '{"type":"message","message":{"role":"user","content":"a"}}\n{"type":"mess',
    });
    expect((await new SessionStore(folder).read('x')).messages).toEqual([{role: 'user', content: 'a'}]);
  });

  it.each(['../x', '.hidden', 'a/b', ''])('refuse the name %j', async (name) => {
    await expect(new SessionStore(await createTemporaryFolder()).read(name)).rejects.toThrow(/cannot be the name/);
  });

  it('have names that sort by time', () => {
    expect(newSessionId(new Date('2026-01-02T03:04:05Z'))).toMatch(/^2026-01-02-0304-[0-9a-f]{4}$/);
  });
});
