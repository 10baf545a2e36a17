/** Every slash command: what it does, how it is used wrongly, and what it says then. */
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {ChatController, type ChatNews} from '../../../src/chat/chat-controller.ts';
import type {TalkMessage} from '../../../src/chat/conversation/messages.ts';
import {settingsFromOptions} from '../../../src/chat/conversation/settings.ts';
import {keyHelp} from '../../../src/chat/input/key-help.ts';
import {chatOptionsSchema} from '../../../src/chat/options.ts';
import {SessionStore, SessionWriter} from '../../../src/chat/sessions/session-store.ts';
import {slashCommandNames} from '../../../src/chat/slash-commands/commands.ts';
import {submitInput} from '../../../src/chat/submit-input.ts';
import {openTools} from '../../../src/chat/tools/open-tools.ts';
import {finish, ScriptedBackend, text} from '../../support/scripted-backend.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const options = chatOptionsSchema.parse({});
const earlier: TalkMessage[] = [
  {role: 'user', content: 'first question'},
  {role: 'assistant', content: 'Use:\n```js\nlet a;\n```', reasoning: 'hm'},
];

async function open({
  talk = earlier,
  tools: names = ['calculator'],
  keeps = true,
  keys = [] as readonly (readonly [string, string])[],
} = {}) {
  const folder = await createTemporaryFolder();
  const backend = new ScriptedBackend([text('new '), text('answer'), finish()], [text('second'), finish()]);
  const store = new SessionStore(join(folder, 'sessions'));
  const tools = await openTools({tools: names, toolApproval: 'ask', yesIKnow: false, mcpConfig: null}, folder);
  const news: ChatNews[] = [];
  const start = {
    talk: structuredClone(talk),
    settings: settingsFromOptions(options, null),
    store,
    writer: keeps ? new SessionWriter(store, 'current', null) : null,
    isResumed: false,
    earlierModel: null,
  };
  const chat = new ChatController({
    ...{backend, start, tools, options, folder, retries: 0, keyHelp: keys},
    tell: (each) => news.push(each),
    approve: async () => ({type: 'once'}),
  });
  /** What a command says. */
  const say = async (input: string): Promise<string> => {
    news.length = 0;
    await submitInput(chat, input);
    const texts = news.map((each) => (each.type === 'note' || each.type === 'listing' ? each.text : ''));
    return texts.filter((each) => each !== '').join('\n');
  };
  return {chat, say, news, backend, folder, store};
}

describe('settings', () => {
  it.each([
    ['/set temperature 0.2', 'temperature = 0.2'],
    ['/set stop ["a"]', 'stop = ["a"]'],
    ['/set', '(none)'],
    ['/set keepReasoning always', 'Thoughts are sent back: always'],
    ['/set keepReasoning maybe', 'keepReasoning is auto, always or never.'],
    ['/template enable_thinking false', 'enable_thinking = false'],
    ['/template', '(none)'],
    ['/think on', 'Thinking is on, for templates that know enable_thinking.'],
    ['/think loud', 'Say /think on, off, show, fold or hide.'],
    ['/system Be kind.', 'The system message is set.'],
    ['/system', 'There is no system message.'],
    ['/raw on', 'Answers are shown as they come.'],
    ['/raw off', 'Answers are read as Markdown.'],
    ['/image cat.png', 'Images cannot be sent: this chat takes text only.'],
  ])('%s says "%s"', async (input, answer) => {
    const {say} = await open();
    expect(await say(input)).toBe(answer);
  });

  it('are sent with the next request, and taken away again', async () => {
    const {say, backend} = await open({tools: []});
    for (const input of ['/set top_k 5', '/set seed 1', '/set seed', '/template mood "calm"', '/system Be kind.']) {
      await say(input);
    }
    await say('question');
    expect(backend.requests[0]).toEqual({
      messages: [
        {role: 'system', content: 'Be kind.'},
        {role: 'user', content: 'first question'},
        {role: 'assistant', content: earlier[1]!.content},
        {role: 'user', content: 'question'},
      ],
      top_k: 5,
      chat_template_kwargs: {mood: 'calm'},
    });
    await say('/system -');
    expect(await say('/system')).toBe('There is no system message.');
  });

  it('of the screen reach it', async () => {
    const {say, news} = await open();
    await say('/think show');
    expect(news).toEqual([{type: 'reasoning-mode', mode: 'show'}]);
  });
});

describe('the talk', () => {
  it('/retry asks the last question again, with another seed', async () => {
    const {say, chat, backend} = await open();
    await say('/retry');
    expect(chat.talk.at(-1)).toEqual({role: 'assistant', content: 'new answer'});
    expect(chat.talk).toHaveLength(2);
    expect(backend.requests[0]?.seed).toEqual(expect.any(Number));
  });

  it('/continue goes on with the last answer', async () => {
    const {say, chat, backend} = await open();
    await say('/continue');
    expect(chat.talk).toHaveLength(2);
    expect(chat.talk[1]?.content).toBe(`${earlier[1]!.content}new answer`);
    expect(backend.requests[0]).toMatchObject({continue_final_message: true, add_generation_prompt: false});
  });

  it('/edit takes the question back into the input, /undo only out of the talk', async () => {
    const first = await open();
    await first.say('/edit');
    expect(first.news).toContainEqual({type: 'edit', text: 'first question'});
    const second = await open();
    expect(await second.say('/undo')).toBe('Taken back: first question');
    expect([first.chat.talk, second.chat.talk]).toEqual([[], []]);
  });

  it('/new and /clear begin another one', async () => {
    for (const input of ['/new', '/clear']) {
      const {say, chat, news} = await open();
      await say(input);
      expect(chat.talk).toEqual([]);
      expect(news.some(({type}) => type === 'clear')).toBe(input === '/clear');
    }
  });

  it.each([
    ['/retry', 'There is no message yet.'],
    ['/edit', 'There is no message yet.'],
    ['/undo', 'There is no message yet.'],
    ['/continue', 'There is no answer to go on with.'],
    ['/copy', 'There is nothing to copy.'],
    ['/stats', 'There is no answer yet.'],
    ['/raw', '(none)'],
  ])('%s in an empty talk says "%s"', async (input, answer) => {
    const {say} = await open({talk: []});
    expect(await say(input)).toBe(answer);
  });
});

describe('files', () => {
  it('/file and @path go with the next message', async () => {
    const {say, backend, folder} = await open();
    await writeFile(join(folder, 'a.txt'), 'from a\n');
    await writeFile(join(folder, 'b.txt'), 'from ``` b');
    expect(await say(`/file ${join(folder, 'a.txt')}`)).toContain('goes with the next message');
    await say(`look @${join(folder, 'b.txt')}`);
    const {content} = backend.requests[0]!.messages.at(-1)!;
    expect(content).toContain('a.txt:\n```\nfrom a\n```');
    expect(content).toContain('b.txt:\n````\nfrom ``` b\n````');
  });

  it('/file says what it cannot read', async () => {
    const {say} = await open();
    expect(await say('/file')).toBe('Say which file: /file PATH');
    expect(await say('/file /no/such')).toMatch(/^\/no\/such cannot be read/);
  });

  it('/export writes Markdown and JSON, and never over a file', async () => {
    const {say, folder} = await open();
    const path = join(folder, 'talk');
    await say(`/export ${path}.md`);
    await say(`/export ${path}.json`);
    expect(await readFile(`${path}.md`, 'utf8')).toMatch(/^## You\n\nfirst question\n\n## Assistant\n/);
    expect(JSON.parse(await readFile(`${path}.json`, 'utf8'))).toMatchObject({messages: [{role: 'user'}, {}]});
    expect(await say(`/export ${path}.md`)).toBe(`${path}.md cannot be written: it is there already`);
    expect(await say('/export talk.doc')).toBe('Say where: /export FILE.md or /export FILE.json');
  });

  it.each([
    ['/copy', earlier[1]!.content],
    ['/copy code', 'let a;\n'],
  ])('%s puts text into the clipboard', async (input, copied) => {
    const {say, news} = await open();
    await say(input);
    expect(news).toContainEqual({type: 'copy', text: copied});
  });
});

describe('stored talks', () => {
  it('are saved under a name, listed and loaded', async () => {
    const {say, chat} = await open();
    expect(await say('/save tea')).toBe('Kept as tea; parlance chat --resume tea goes on.');
    expect(await say('/sessions')).toMatch(/^\* tea {2}/);
    await say('/new');
    expect(await say('/load te')).toBe('2 messages of tea');
    expect(chat.talk).toEqual(earlier);
  });

  it('/save, /load and /sessions say what is wrong', async () => {
    const {say} = await open({keeps: false});
    expect(await say('/save')).toBe('Nothing is kept (--no-save); /save NAME keeps this talk.');
    expect(await say('/save ../x')).toMatch(/^"\.\.\/x" cannot be the name of a session/);
    expect(await say('/sessions')).toBe('(none)');
    expect(await say('/load nothing')).toMatch(/^there is no talk nothing/);
    await say('/save tea');
    expect(await say('/save tea')).toMatch(/^there is a session tea already/);
  });
});

describe('looks inside', () => {
  it.each([
    ['/tokens', /1 {2}user {6}first question/],
    ['/prompt', /^prompt$/],
    ['/raw', /"reasoning": "hm"/],
    ['/model', /^\* scripted$/],
    ['/model scripted', /^Answers come from scripted now\.$/],
    ['/tools', /^on {2}calculator/],
    ['/tools off calculator', /^off calculator/],
    ['/tools on nothing', /^There is no tool nothing\.$/],
    ['/tools calculator', /^Say \/tools, \/tools on NAME or \/tools off NAME\.$/],
    ['/mcp', /^\(none/],
  ])('%s shows %s', async (input, answer) => {
    const {say} = await open();
    expect(await say(input)).toMatch(answer);
  });

  it('/stats tells about the last answer', async () => {
    const {say} = await open();
    await say('question');
    expect(await say('/stats')).toMatch(/^prompt 10 tokens · answer 5 tokens/);
  });
});

describe('/help and what is no command', () => {
  it('names every command', async () => {
    const {say} = await open();
    const help = await say('/help');
    for (const name of slashCommandNames) expect(help).toContain(`/${name}`);
    expect(await say('/?')).toBe(help);
    expect(help).not.toContain('Ctrl');
  });

  it('name the keys where there are any', async () => {
    const {say} = await open({keys: keyHelp});
    const help = await say('/help');
    for (const [keys, effect] of keyHelp)
      expect(help.split('\n').some((line) => line.startsWith(keys) && line.endsWith(`  ${effect}`))).toBe(true);
  });

  it.each(['/quit', '/bye', '/exit'])('%s leaves', async (input) => {
    const {say, news} = await open();
    await say(input);
    expect(news).toEqual([{type: 'quit'}]);
  });

  it('names the command that was probably meant, and sends nothing', async () => {
    const {say, backend} = await open();
    expect(await say('/retyr')).toContain('Did you mean /retry?');
    expect(await say('/zzzzzz now')).toContain('There is no command /zzzzzz.');
    expect(backend.requests).toEqual([]);
  });

  it('sends what only looks like one', async () => {
    const {say, backend} = await open();
    await say('//help me');
    await say('/etc/hosts is what?');
    expect(backend.requests.map(({messages}) => messages.at(-1)?.content)).toEqual(['/help me', '/etc/hosts is what?']);
  });
});
