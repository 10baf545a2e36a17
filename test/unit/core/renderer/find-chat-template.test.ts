import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {builtInTemplateNames} from '../../../../src/core/renderer/built-in-templates.ts';
import {compileChatTemplate} from '../../../../src/core/renderer/chat-template.ts';
import {findChatTemplates} from '../../../../src/core/renderer/find-chat-template.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const noFiles = {chatTemplatePath: null, additionalTemplatePaths: new Map(), tokenizerConfigPath: null};

describe('findChatTemplates', () => {
  it('takes the template files of the folder, which replace those of tokenizer_config.json', async () => {
    const folder = await createTemporaryFolder({
      'chat_template.jinja': 'file',
      'tools.jinja': 'with tools',
      'tokenizer_config.json': {
        chat_template: [
          {name: 'default', template: 'config'},
          {name: 'rag', template: 'R'},
        ],
      },
    });
    const {named, override} = await findChatTemplates(
      {
        chatTemplatePath: join(folder, 'chat_template.jinja'),
        additionalTemplatePaths: new Map([['tool_use', join(folder, 'tools.jinja')]]),
        tokenizerConfigPath: join(folder, 'tokenizer_config.json'),
      },
      null,
    );
    expect(override).toBeNull();
    expect([...named].sort()).toEqual([
      ['default', 'file'],
      ['tool_use', 'with tools'],
    ]);
  });

  it('reads one text or a list of names from tokenizer_config.json', async () => {
    const find = async (chat_template: unknown) => {
      const folder = await createTemporaryFolder({'tokenizer_config.json': {chat_template}});
      return findChatTemplates({...noFiles, tokenizerConfigPath: join(folder, 'tokenizer_config.json')}, null);
    };
    expect([...(await find('T')).named]).toEqual([['default', 'T']]);
    expect([...(await find([{name: 'a', template: 'A'}])).named]).toEqual([['a', 'A']]);
    expect(await find(null)).toEqual({override: null, named: new Map(), source: 'none'});
    await expect(find(5)).rejects.toMatchObject({name: 'ModelError'});
  });

  it('takes --chat-template as a file, else as text', async () => {
    const folder = await createTemporaryFolder({'t.jinja': 'from file'});
    expect((await findChatTemplates(noFiles, join(folder, 't.jinja'))).override).toBe('from file');
    expect((await findChatTemplates(noFiles, '{{ messages }}')).override).toBe('{{ messages }}');
    await expect(findChatTemplates(noFiles, './t.jinja')).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(/^The supplied chat template string \(\.\/t\.jinja\) appears path-like/),
      hint: expect.stringContaining('alpaca, chatml, llama3'),
    });
  });

  it('takes --chat-template as the name of a built-in template, each of which renders a conversation', async () => {
    const names = await builtInTemplateNames();
    for (const name of names) {
      const {override} = await findChatTemplates(noFiles, name);
      const messages = ['system', 'user', 'assistant', 'user'].map((role, index) => ({role, content: `text ${index}`}));
      const variables = {messages, add_generation_prompt: true, bos_token: '<s>', eos_token: '</s>'};
      expect(compileChatTemplate(override!).render(variables), name).toMatch(/text 0.*text 1.*text 2.*text 3.*\S/s);
    }
    expect((await findChatTemplates(noFiles, 'chatml.jinja')).override).toContain('<|im_start|>');
  });

  it('refuses a --chat-template that no request could use, and shows the place', async () => {
    const template = 'Hello\n{{ messages[0].content | shout }}';
    await expect(findChatTemplates(noFiles, template)).rejects.toMatchObject({
      name: 'UsageError',
      message: [
        "The template of --chat-template has a mistake in line 2, column 26: No filter named 'shout'.",
        '1 | Hello',
        '2 | {{ messages[0].content | shout }}',
        '  |                          ^',
      ].join('\n'),
    });
    await expect(findChatTemplates(noFiles, '{% if x %}')).rejects.toThrow(
      "has a mistake in line 1, column 11: Unexpected end of template. Jinja was looking for the following tags: 'elif' " +
        "or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.",
    );
  });
});
