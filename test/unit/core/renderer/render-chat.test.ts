import {describe, expect, it} from 'vitest';
import {parseChatCompletionRequest} from '../../../../src/core/protocol/openai/chat-completion.ts';
import type {ChatMessage} from '../../../../src/core/protocol/openai/messages.ts';
import {createRenderer, type RendererOptions} from '../../../../src/core/renderer/render-chat.ts';
import {embeddedTokenizer} from '../../../support/embedded-model.ts';

const dump = '{{ messages|tojson }}';

async function render(body: Record<string, unknown>, options: Partial<RendererOptions> = {}, template = dump) {
  const renderer = createRenderer({
    tokenizer: await embeddedTokenizer(),
    templates: {override: template, named: new Map(), source: 'test'},
    contentFormat: 'string',
    defaultTemplateKwargs: {},
    modelName: 'tiny',
    maxModelLen: 512,
    ...options,
  });
  const {messages = [{role: 'user', content: 'x'}], ...others} = body;
  const request = parseChatCompletionRequest({...others, messages: []});
  return renderer.renderChat({...request, messages: messages as ChatMessage[]});
}

/** What the template sees. */
async function conversation(messages: unknown[], options: Partial<RendererOptions> = {}) {
  return JSON.parse((await render({messages}, options)).text);
}

describe('messages as a template sees them', () => {
  it('keep their known keys in a fixed order and lose the others', async () => {
    const {text} = await render({
      messages: [
        {name: 'ann', foo: 1, reasoning: 'r', content: 'x', role: 'user'},
        {
          tool_calls: [{type: 'function', extra: 1, function: {x: 2, name: 'f', arguments: '{"a": 1}'}, id: 'c'}],
          reasoning_content: 'why',
          role: 'assistant',
          content: null,
        },
        {role: 'tool', tool_call_id: 'c', content: 'done', name: 'f'},
      ],
    });
    expect(text).toBe(
      '[{"role": "user", "content": "x", "name": "ann"}, ' +
        '{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"arguments": {"a": 1}, "name": "f", "x": 2}, ' +
        '"type": "function", "extra": 1}], "reasoning": "why", "reasoning_content": "why"}, ' +
        '{"role": "tool", "content": "done", "tool_call_id": "c", "name": "f"}]',
    );
  });

  it('join parts by line feeds, empty ones left out', async () => {
    const content = [
      {type: 'text', text: 'a'},
      'b',
      {type: 'text', text: ''},
      {type: 'text', text: null},
      {type: 'output_text', text: 'c'},
      {type: 'refusal', refusal: 'd'},
      {type: 'thinking', thinking: 'e'},
      {type: 'tool_reference', name: 'f'},
    ];
    expect(await conversation([{role: 'critic', content}])).toEqual([{role: 'critic', content: 'a\nb\nc\nd\ne\nf'}]);
  });

  it('keep lists in openai format, with unknown keys; tool texts become one string', async () => {
    const part = {type: 'text', text: 'a', cache_control: {type: 'ephemeral'}};
    const messages = [
      {role: 'user', content: 'plain'},
      {role: 'user', content: [part, 'b']},
      {role: 'assistant', content: null},
      {role: 'tool', tool_call_id: '1', content: ['a', 'b']},
      {role: 'tool', tool_call_id: '2', content: ['a', {type: 'tool_reference', name: 'f'}]},
    ];
    const contents = (await conversation(messages, {contentFormat: 'openai'})).map(
      (m: {content: unknown}) => m.content,
    );
    expect(contents).toEqual([
      [{type: 'text', text: 'plain'}],
      [part, {type: 'text', text: 'b'}],
      [],
      'a\nb',
      [
        {type: 'text', text: 'a'},
        {type: 'tool_reference', name: 'f'},
      ],
    ]);
  });

  it('find the format in the template', async () => {
    const loop = '{% for m in messages %}{% for part in m.content %}[{{ part.text }}]{% endfor %}{% endfor %}';
    expect((await render({messages: [{role: 'user', content: 'a'}]}, {contentFormat: 'auto'}, loop)).text).toBe('[a]');
  });

  it.each(['', '{', 'null', '[1]', '7', '"text"'])(
    'read arguments that are no object as an empty one: %s',
    async (text) => {
      const call = {id: 'c', type: 'function', function: {name: 'f', arguments: text}};
      const [message] = await conversation([{role: 'assistant', content: '', tool_calls: [call]}]);
      expect(message.tool_calls[0].function.arguments).toEqual({});
    },
  );

  it('lose empty lists of calls and null reasoning', async () => {
    const messages = [{role: 'assistant', content: '4', tool_calls: [], reasoning: null, reasoning_content: null}];
    expect(await conversation(messages)).toEqual([{role: 'assistant', content: '4'}]);
  });

  it('lose the billing line of system messages', async () => {
    const header = 'x-anthropic-billing-header: a=1';
    const contents = [
      `${header}\nBe brief.`,
      header,
      [
        {type: 'text', text: header},
        {type: 'text', text: 'b'},
      ],
    ];
    const messages = contents.map((content) => ({role: 'system', content}));
    expect((await conversation(messages)).map((m: {content: string}) => m.content)).toEqual(['Be brief.', '', 'b']);
    expect(await conversation([{role: 'user', content: header}])).toEqual([{role: 'user', content: header}]);
  });

  it('turn developer messages into one system message when the template does not know them', async () => {
    const messages = [
      {role: 'system', content: 'Be brief.'},
      {role: 'user', content: 'Hi'},
      {role: 'developer', content: 'Be terse.', tools: [{}]},
    ];
    const merged = [
      {role: 'system', content: 'Be brief.\n\nBe terse.'},
      {role: 'user', content: 'Hi'},
    ];
    expect(await conversation(messages)).toEqual(merged);
    const knowing = await render({messages}, {}, `${dump}{# 'developer' #}`);
    expect(JSON.parse(knowing.text)[2]).toEqual({role: 'developer', content: 'Be terse.', tools: [{}]});
  });
});

describe('messages that are refused', () => {
  const cases: [string, unknown[], string][] = [
    ['an empty list', [], 'Cannot apply chat template to an empty conversation. Provide at least one message.'],
    [
      'an image',
      [{role: 'user', content: [{type: 'image_url', image_url: {url: 'x'}}]}],
      'tiny is not a multimodal model',
    ],
    ['an untyped image', [{role: 'bot', content: [{image_url: {url: 'x'}}]}], 'tiny is not a multimodal model'],
    ['audio', [{role: 'user', content: [{type: 'input_audio', input_audio: {}}]}], 'tiny is not a multimodal model'],
    [
      'an unknown part',
      [{role: 'bot', content: [{type: 'banana'}]}],
      "Unsupported chat content part type: 'banana'. Supported types: audio_embeds, audio_url,",
    ],
    [
      'a prototype key',
      [{role: 'bot', content: [{type: 'constructor'}]}],
      "Unsupported chat content part type: 'constructor'.",
    ],
    ['a part without type', [{role: 'bot', content: [{foo: 1}]}], "Missing 'type' field in multimodal part."],
    [
      'a call of another type',
      [{role: 'assistant', tool_calls: [{type: 'custom', function: {}}]}],
      "chat completions only support assistant tool_calls of type 'function'.",
    ],
    [
      'a call that is no object',
      [{role: 'assistant', tool_calls: ['x']}],
      'assistant tool_calls entries must be objects.',
    ],
  ];

  it.each(cases)('%s', async (_what, messages, message) => {
    await expect(render({messages})).rejects.toMatchObject({
      name: 'ValidationError',
      message: expect.stringContaining(message),
    });
  });
});

describe('template variables', () => {
  const kwargs = '{{ add_generation_prompt }}|{{ bos_token }}|{{ enable_thinking }}|{{ flavour }}|{{ cohere_format }}';

  it('merge server defaults, request arguments and request fields', async () => {
    const defaultTemplateKwargs = {flavour: 'mint', enable_thinking: true};
    const text = async (body: Record<string, unknown>) => (await render(body, {defaultTemplateKwargs}, kwargs)).text;
    expect(await text({})).toBe('True|<|im_start|>|True|mint|cmd4');
    expect(await text({chat_template_kwargs: {flavour: 'rum', bos_token: 'B', add_generation_prompt: false}})).toBe(
      'True|B|True|rum|cmd4',
    );
    expect(await text({chat_template_kwargs: {flavour: null, enable_thinking: 'auto'}})).toBe(
      'True|<|im_start|>|True|mint|cmd4',
    );
    expect(await text({reasoning_effort: 'none'})).toBe('True|<|im_start|>|False|mint|cmd4');
    expect(await text({reasoning_effort: 'none', chat_template_kwargs: {enable_thinking: true}})).toMatch(
      /^True\|<\|im_start\|>\|True/,
    );
  });

  it('print tools with all their keys', async () => {
    const tools = [{type: 'function', function: {name: 'f', strict: true}}];
    const {text} = await render({tools, tool_choice: 'none'}, {}, '{{ tools|tojson }}');
    expect(text).toBe(
      '[{"type": "function", "function": {"name": "f", "description": null, "parameters": null, "strict": true}}]',
    );
  });

  it('may not hold messages', async () => {
    await expect(render({chat_template_kwargs: {messages: []}})).rejects.toMatchObject({
      name: 'ValidationError',
      message: expect.stringContaining("keyword argument 'messages'"),
    });
  });
});

describe('which template', () => {
  const named = new Map([
    ['default', 'D'],
    ['tool_use', 'T'],
    ['rag', 'R'],
  ]);
  const tools = [{type: 'function', function: {name: 'f'}}];
  const choose = async (override: string | null, body: Record<string, unknown> = {}, templates = named) =>
    (await render(body, {templates: {override, named: templates, source: 'test'}})).text;

  it('takes the request, then the server, then the model', async () => {
    expect(await choose(null)).toBe('D');
    expect(await choose(null, {tools, tool_choice: 'none'})).toBe('T');
    expect(await choose('X', {tools, tool_choice: 'none'})).toBe('X');
    expect(await choose('rag')).toBe('R');
    expect(await choose('X', {chat_template: 'Q'})).toBe('Q');
    expect(await choose('X', {chat_template: ''})).toBe('X');
    expect(await choose('X', {chat_template_kwargs: {chat_template: 'K'}})).toBe('X');
    expect(await choose(null, {chat_template_kwargs: {chat_template: 'K'}})).toBe('K');
  });

  it('PR-template-10: says when there is none, and which flag gives one', async () => {
    await expect(choose(null, {}, new Map())).rejects.toMatchObject({
      name: 'ValidationError',
      message: expect.stringMatching(
        /^As of transformers v4.44, default chat template is no longer allowed.*--chat-template/,
      ),
    });
  });

  it('passes on the words of the template, and what does not parse', async () => {
    const raising = "{{ raise_exception('Roles must alternate') }}";
    await expect(render({}, {}, raising)).rejects.toMatchObject({
      name: 'TemplateError',
      message: 'Roles must alternate',
    });
    await expect(render({}, {}, '{% if %}')).rejects.toMatchObject({name: 'TemplateError'});
  });
});

describe('continue_final_message', () => {
  const open = {add_generation_prompt: false, continue_final_message: true};
  const print = '{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}';
  const trim = print.replace('m.content', 'm.content | trim');
  const messages = [
    {role: 'user', content: 'Hi'},
    {role: 'assistant', content: 'Well,\n\n'},
  ];

  it('keeps white space at the end unless the template trims it', async () => {
    expect((await render({...open, messages}, {}, print)).text).toBe('<user>Hi</><assistant>Well,\n\n');
    expect((await render({...open, messages}, {}, trim)).text).toBe('<user>Hi</><assistant>Well,');
  });

  it('continues the last text part in openai format', async () => {
    const loop = '{% for m in messages %}{% for part in m.content %}[{{ part.text }}]{% endfor %}{% endfor %}';
    const parts = [
      {
        role: 'assistant',
        content: [
          {type: 'text', text: 'a'},
          {type: 'text', text: 'b '},
        ],
      },
    ];
    expect((await render({...open, messages: parts}, {contentFormat: 'openai'}, loop)).text).toBe('[a][b ');
  });

  it.each([
    ['{{ messages[0].role }}', 'but this is not an accepted field in the chat_template'],
    ['{{ messages[0].content }}', 'the final message does not appear in the chat'],
  ])('refuses %s', async (template, message) => {
    await expect(render({...open, messages}, {}, template)).rejects.toMatchObject({
      name: 'ValidationError',
      message: expect.stringContaining(message),
    });
  });

  it('shows what was rendered when the message is gone', async () => {
    await expect(render({...open, messages}, {}, '{{ messages[0].content }}')).rejects.toThrow(
      'compatible.Final message to continue: Well,\nRendered chat:\nHi',
    );
  });

  it('refuses a list without text', async () => {
    const empty = [{role: 'assistant', content: []}];
    await expect(render({...open, messages: empty}, {contentFormat: 'openai'}, print)).rejects.toThrow(
      'could not find any text to continue',
    );
  });

  it('does not go with a generation prompt', async () => {
    await expect(render({continue_final_message: true, messages})).rejects.toThrow(
      'continue_final_message and add_generation_prompt are not compatible.',
    );
  });
});

describe('length', () => {
  const plain = '{{ messages[0].content }}';
  const content = (text: string) => ({messages: [{role: 'user', content: text}]});
  const numbers = Array.from({length: 12}, (_, index) => String(index % 10)).join('');

  it('lets a prompt through that fills the context, and refuses a longer one', async () => {
    expect((await render(content('7'.repeat(12)), {maxModelLen: 12}, plain)).tokenIds).toHaveLength(12);
    await expect(render(content('7'.repeat(14)), {maxModelLen: 12}, plain)).rejects.toMatchObject({
      param: 'input_tokens',
      value: 13,
      message:
        "This model's maximum context length is 12 tokens. However, your prompt contains at least 13 input tokens, which " +
        'exceeds this limit even without any output tokens. Please reduce the length of the input prompt.',
    });
  });

  it('refuses a text that cannot fit before it is tokenized; counts characters, not code units', async () => {
    await expect(render(content('x'.repeat(973)), {maxModelLen: 12}, plain)).rejects.toMatchObject({
      param: 'input_text',
      value: 973,
      message:
        "This model's maximum context length is 12 tokens. However, your prompt contains 973 characters (more than 972 " +
        'characters, which is the upper bound for 12 input tokens). Please reduce the length of the input prompt.',
    });
    await expect(render(content('🌍'.repeat(972)), {maxModelLen: 12}, plain)).rejects.toMatchObject({
      param: 'input_tokens',
    });
  });

  it('truncates on the side that is asked for, left by default', async () => {
    const tokenizer = await embeddedTokenizer();
    const kept = async (body: object, options = {}) =>
      tokenizer.decode((await render({...content(numbers), ...body}, options, plain)).tokenIds, {
        skipSpecialTokens: true,
      });
    expect(await kept({truncate_prompt_tokens: 3})).toBe('901');
    expect(await kept({truncate_prompt_tokens: 3, truncation_side: 'right'})).toBe('012');
    expect(await kept({truncate_prompt_tokens: 30})).toBe(numbers);
    expect(await kept({truncate_prompt_tokens: 0})).toBe('');
    expect(await kept({truncate_prompt_tokens: -1}, {maxModelLen: 5})).toBe('8901');
    expect(await kept({truncate_prompt_tokens: -1, max_tokens: 0}, {maxModelLen: 5})).toBe('78901');
  });

  it('cuts a huge text before it is tokenized, never through a character', async () => {
    const huge = {...content('🌍'.repeat(100_000)), truncate_prompt_tokens: 2};
    for (const truncation_side of ['left', 'right']) {
      const {tokenIds} = await render({...huge, truncation_side}, {maxModelLen: 3}, plain);
      expect(tokenIds).toHaveLength(2);
    }
  });
});
