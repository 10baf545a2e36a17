import {appendFile, stat} from 'node:fs/promises';
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
    expect(await store.read('one')).toMatchObject({id: 'one', model: 'model', messages: talk, settings});
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
    await expect(new SessionStore(await createTemporaryFolder()).write(name, [])).rejects.toThrow(/cannot be the name/);
  });

  it('have names that sort by time', () => {
    expect(newSessionId(new Date('2026-01-02T03:04:05Z'))).toMatch(/^2026-01-02-0304-[0-9a-f]{4}$/);
  });

  it('go on behind a line that was cut by a crash', async () => {
    const folder = await createTemporaryFolder();
    const store = new SessionStore(folder);
    await new SessionWriter(store, 'one', null).save(talk, settings, 'model');
    await appendFile(join(folder, 'one.jsonl'), '{"type":"message","mess\xc3');
    const resumed = await store.read('one');
    expect(resumed.messages).toEqual(talk);
    const more: TalkMessage[] = [...talk, {role: 'user', content: 'more'}];
    await new SessionWriter(store, 'one', resumed).save(more, settings, 'model');
    expect((await store.read('one')).messages).toEqual(more);
  });

  it('part ways when two talks go on with one', async () => {
    const store = new SessionStore(await createTemporaryFolder());
    await new SessionWriter(store, 'one', null).save(talk, settings, 'model');
    const [left, right] = [await store.read('one'), await store.read('one')].map(
      (resumed) => new SessionWriter(store, 'one', resumed),
    );
    const saying = (content: string): TalkMessage[] => [...talk, {role: 'user', content}];
    await left!.save(saying('left'), settings, 'model');
    await right!.save(saying('right'), settings, 'model');
    expect([left!.id, right!.id === 'one']).toEqual(['one', false]);
    expect((await store.read('one')).messages).toEqual(saying('left'));
    expect((await store.read(right!.id)).messages).toEqual(saying('right'));
  });

  it('part ways when two new ones have the same name', async () => {
    const store = new SessionStore(await createTemporaryFolder());
    const writers = [new SessionWriter(store, 'one', null), new SessionWriter(store, 'one', null)];
    for (const writer of writers) await writer.save(talk, settings, 'model');
    expect(writers.map(({id}) => id === 'one')).toEqual([true, false]);
    expect((await store.read('one')).messages).toEqual(talk);
  });

  it('lose nothing that is said while they are written', async () => {
    const growing = [...talk];
    class SlowStore extends SessionStore {
      override async append(...lines: Parameters<SessionStore['append']>) {
        if (growing.length === talk.length) growing.push({role: 'user', content: 'more'});
        return super.append(...lines);
      }
    }
    const store = new SlowStore(await createTemporaryFolder());
    const writer = new SessionWriter(store, 'one', null);
    for (let time = 0; time < 2; time++) await writer.save(growing, settings, 'model');
    expect((await store.read('one')).messages).toEqual([...talk, {role: 'user', content: 'more'}]);
  });

  it('are described by how they began', async () => {
    const store = new SessionStore(await createTemporaryFolder());
    const long: TalkMessage = {role: 'user', content: `what is\n${'x'.repeat(100)}`};
    await new SessionWriter(store, 'long-name', null).save([long], settings, 'model');
    await new SessionWriter(store, 'one', null).save(talk, settings, 'model');
    const lines = await store.describe(await store.list());
    expect(lines.sort()).toEqual([
      expect.stringMatching(/^long-name {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}what is x{42}$/),
      expect.stringMatching(/^one {8}.* {2}a$/),
    ]);
  });

  it('are found by the beginning of a name, and listed when that is not clear', async () => {
    const store = new SessionStore(await createTemporaryFolder());
    await expect(store.read('x')).rejects.toMatchObject({hint: 'nothing is stored yet'});
    for (const id of ['red', 'rose']) await new SessionWriter(store, id, null).save(talk, settings, 'model');
    expect((await store.read('ro')).id).toBe('rose');
    await expect(store.read('r')).rejects.toThrow('more than one talk begins with r');
    await expect(store.read('?')).rejects.toMatchObject({
      message: 'which talk?',
      hint: expect.stringMatching(/rose .*\n?/),
    });
    await expect(store.read('blue')).rejects.toThrow('there is no talk blue');
  });

  it('say where they cannot be written', async () => {
    const folder = await createTemporaryFolder({file: ''});
    const writer = new SessionWriter(new SessionStore(join(folder, 'file')), 'one', null);
    await expect(writer.save(talk, settings, 'model')).rejects.toThrow(/^the talk could not be saved: /);
    await expect(writer.save(talk, settings, 'model')).rejects.toThrow(/^the talk could not be saved: /);
  });
});
