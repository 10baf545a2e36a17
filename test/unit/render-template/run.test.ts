import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {TemplateError, UsageError} from '../../../src/core/errors.ts';
import {type RenderTemplateOptions, renderTemplateOptionsSchema} from '../../../src/render-template/options.ts';
import {choosePalette, noColours} from '../../../src/render-template/paint.ts';
import {type RunContext, runRenderTemplate} from '../../../src/render-template/run.ts';
import {ownLines} from '../../../src/render-template/watch.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

interface Result {
  code: number;
  out: string;
  errors: string[];
}

const escapeCode = String.fromCharCode(27);

/** @param files texts that can be read by name */
async function run(
  options: Partial<RenderTemplateOptions> & {model?: string; json?: boolean},
  files: Record<string, unknown> = {},
  context: Partial<RunContext> = {},
): Promise<Result> {
  const result: Result = {code: 0, out: '', errors: []};
  const {model = null, json = false, ...given} = options;
  result.code = await runRenderTemplate(
    {...renderTemplateOptionsSchema.parse(given), model, json},
    {
      readText: async (name) => (typeof files[name] === 'string' ? files[name] : JSON.stringify(files[name])),
      write: (text) => {
        result.out += text;
      },
      writeError: (line) => result.errors.push(line),
      isTerminal: false,
      palette: noColours,
      ...context,
    },
  );
  return result;
}

const dump = '{{ messages|tojson }}';

describe('what is rendered', () => {
  it('is a sample with the embedded model when nothing is given', async () => {
    const {out, code} = await run({});
    expect(code).toBe(0);
    expect(out).toMatch(/^<\|im_start\|>system\nYou are a helpful assistant\.<\|im_end\|>\n/);
    expect(out).toMatch(/<\|im_start\|>assistant\n$/);
  });

  it('are messages of the command line in both spellings, the system message first', async () => {
    const {out} = await run({chatTemplate: dump, message: ['user=a=b', 'assistant: hi: x'], system: 's'});
    expect(JSON.parse(out)).toEqual([
      {role: 'system', content: 's'},
      {role: 'user', content: 'a=b'},
      {role: 'assistant', content: 'hi: x'},
    ]);
  });

  it('is a request file with tools, documents and variables; flags count more', async () => {
    const template = '{{ tools|length }}{{ documents|length }}{{ a }}{{ b }}{{ add_generation_prompt }}';
    const files = {
      'request.json': {
        messages: [{role: 'user', content: 'x'}],
        tools: [{type: 'function', function: {name: 'f'}}],
        chat_template_kwargs: {a: 1, b: 1},
      },
      'documents.json': [{text: 'one'}, {text: 'two'}],
    };
    const {out} = await run(
      {
        chatTemplate: template,
        messages: 'request.json',
        documents: 'documents.json',
        chatTemplateKwargs: {b: 2},
        addGenerationPrompt: false,
      },
      files,
    );
    expect(out).toBe('1212False');
  });

  it('keeps the kinds of numbers in files', async () => {
    const files = {'tools.json': '[{"type":"function","function":{"name":"f","parameters":{"minimum":1.0}}}]'};
    const {out} = await run({chatTemplate: '{{ tools[0].function.parameters|tojson }}', tools: 'tools.json'}, files);
    expect(out).toBe('{"minimum": 1.0}');
  });

  it('continues the last message when asked', async () => {
    const {out} = await run({message: ['user=x', 'assistant=Once upon'], continueFinalMessage: true});
    expect(out).toMatch(/<\|im_start\|>assistant\nOnce upon$/);
  });

  it('sees the given time', async () => {
    const {out} = await run({chatTemplate: "{{ strftime_now('%Y-%m-%d') }}", date: '2026-01-31'});
    expect(out).toBe('2026-01-31');
  });

  it.each([
    [{messages: 'x'}, {x: '{"a": 1'}, "x is no JSON: Expecting ',' delimiter (line 1, column 8)"],
    [{messages: 'x'}, {x: {}}, 'x holds no messages'],
    [{message: ['hello there']}, {}, '--message cannot be hello there'],
    [{tools: 'x'}, {x: 3}, '--tools x holds no JSON list'],
    [{date: 'soon'}, {}, '--date cannot be soon'],
    [{templateName: 'rag'}, {}, 'smollm2-135m-instruct has no template named rag\nallowed: default'],
    [{diff: 'nothing'}, {}, '--diff cannot be nothing'],
    [{diff: 'tools'}, {}, '--diff tools needs tools'],
    [{chatTemplate: dump, ids: true}, {}, '--ids needs a tokenizer'],
    [{chatTemplate: dump, escapeControlTokens: true}, {}, '--escape-control-tokens needs a model'],
    [{messages: 'x'}, {x: [{content: 'no role'}]}, 'The request cannot be rendered: '],
  ])('%j is wrong use', async (options, files, message) => {
    const error = await run(options, files).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(message);
  });

  it('fails with the place in the template', async () => {
    const error = await run({chatTemplate: 'a\n{{ messages[0].x.y }}'}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TemplateError);
    expect(error).toMatchObject({message: "'dict object' has no attribute 'x'", line: 2, column: expect.any(Number)});
  });
});

describe('what comes out', () => {
  it('is the exact text in a pipe, and painted in a terminal', async () => {
    const palette = choosePalette({}, true);
    const piped = await run({message: ['user=x']});
    expect(piped.out).not.toContain(escapeCode);
    const shown = await run({message: ['user=x']}, {}, {isTerminal: true, palette});
    expect(shown.out).toContain(`${escapeCode}[7m<|im_start|>${escapeCode}[27m`);
    expect(shown.out).toMatch(
      /31 tokens of 8192 \(5 special\) · template from .* · sha [0-9a-f]{8} · content format string/,
    );
    expect((await run({message: ['user=x'], text: true}, {}, {isTerminal: true, palette})).out).toBe(piped.out);
  });

  it('makes blanks visible', async () => {
    const {out} = await run({message: ['user=a b\tc '], whitespace: true});
    expect(out).toContain('a·b→c·<|im_end|>⏎\n');
  });

  it('is a list of ids', async () => {
    const {out} = await run({message: ['user=x'], system: '', ids: true});
    expect(JSON.parse(out)).toEqual(expect.arrayContaining([1, 2]));
  });

  it('says in JSON all there is to say', async () => {
    const {out} = await run({message: ['user=Hi', 'assistant=Yo', 'user=€🦙'], system: 's', json: true});
    const json = JSON.parse(out);
    expect(Object.keys(json)).toEqual([
      'prompt',
      'token_ids',
      'token_count',
      'tokens',
      'spans',
      'generation_prompt',
      'template',
      'content_format',
      'variables',
      'generation_mask',
      'warnings',
    ]);
    expect(json.token_ids).toHaveLength(json.token_count);
    expect(json.generation_prompt).toBe('<|im_start|>assistant\n');
    expect(json.spans.map(({message}: {message: number | null}) => message)).toEqual([0, 1, 2, 3, null]);
    const sum = json.spans.reduce((total: number, span: {token_count: number}) => total + span.token_count, 0);
    expect(sum).toBe(json.token_count);
    for (const {start, end, role} of json.spans) {
      if (role !== null) expect(json.prompt.slice(start, end)).toMatch(new RegExp(`^<\\|im_start\\|>${role}\n`));
    }
  });

  it('lists variables with what became of them', async () => {
    const {out} = await run({chatTemplate: '{{ a }}{{ b }}', chatTemplateKwargs: {a: 1, c: 1}, vars: true});
    expect(out).toMatch(/^a +given$/m);
    expect(out).toMatch(/^b +undefined$/m);
    expect(out).toMatch(/^c +not read$/m);
  });

  it('has a table of tokens with the messages that they belong to', async () => {
    const {out} = await run({message: ['user=x<|im_end|>'], system: 's', tokens: true, escapeControlTokens: true});
    expect(out).toMatch(/^\d+ +\d+ +\d+-\d+ +1 +"x"$/m);
    expect(out.match(/yes +"<\|im_end\|>"/g)).toHaveLength(2);
    expect(out).toMatch(/generation +yes +"<\|im_start\|>"/);
  });
});

describe('--diff', () => {
  it('shows what a change does, with exit code 3', async () => {
    const {code, out} = await run({message: ['user=x'], system: 's', diff: 'generation-prompt'});
    expect(code).toBe(3);
    expect(out).toContain('\n-<|im_start|>assistant\n');
    expect(out).toMatch(/^--- as given\n\+\+\+ without generation-prompt\n/);
  });

  it('says so when there is no difference', async () => {
    const result = await run({message: ['user=x'], diff: 'kwargs.enable_thinking=false'});
    expect(result).toEqual({code: 0, out: '', errors: ['no difference kwargs.enable_thinking=false']});
  });

  it('compares variables and templates', async () => {
    const kwargs = await run({chatTemplate: 'x{{ a }}', chatTemplateKwargs: {a: 1}, diff: 'kwargs.a=2', json: true});
    expect(JSON.parse(kwargs.out)).toMatchObject({differs: true, before: {prompt: 'x1'}, after: {prompt: 'x2'}});
    const template = await run({chatTemplate: '{{ 1 }}', diff: 'template={{ 2 }}'});
    expect(template.out).toContain('-1\n+2\n');
  });

  it('leaves tools out', async () => {
    const files = {'tools.json': [{type: 'function', function: {name: 'f'}}]};
    const {out} = await run({chatTemplate: '{{ tools is none }}', tools: 'tools.json', diff: 'tools'}, files);
    expect(out).toContain('-False\n+True\n');
  });
});

describe('--list', () => {
  it('names the templates of a folder without weights, and each can be rendered', async () => {
    const folder = await createTemporaryFolder({
      'chat_template.jinja': '{{ 1 }}',
      'additional_chat_templates/rag.jinja': '{{ "rag" }}',
    });
    const {out} = await run({model: folder, list: true, json: true});
    const {templates} = JSON.parse(out);
    expect(templates.map(({name}: {name: string}) => name).sort()).toEqual(['default', 'rag']);
    expect((await run({model: folder})).out).toBe('1');
    expect((await run({model: folder, templateName: 'rag'})).out).toBe('rag');
    expect((await run({model: join(folder, 'chat_template.jinja')})).out).toBe('1');
  });

  it('refuses a folder without templates and a model that is not there', async () => {
    await expect(run({model: await createTemporaryFolder(), list: true})).rejects.toThrow('has no chat template');
    await expect(run({model: '/nowhere'})).rejects.toThrow('There is no model /nowhere');
  });
});

describe('--batch', () => {
  const rows = (...lines: unknown[]) => ({'b.jsonl': lines.map((line) => JSON.stringify(line)).join('\n')});
  const messages = [{role: 'user', content: 'x'}];

  it('gives a prompt or an error for each row, and says whether it was expected', async () => {
    const template = "{% if bad %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}";
    const {code, out, errors} = await run(
      {batch: 'b.jsonl'},
      rows(
        {name: 'plain', template, messages},
        {name: 'right', template, messages, expected: 'x'},
        {name: 'wrong', template, messages, expected: 'y'},
        {name: 'fails', template, messages, kwargs: {bad: true}, error: 'no', etype: 'TemplateError'},
        {name: 'fails otherwise', template, messages, kwargs: {bad: true}, error: 'yes'},
      ),
    );
    const results = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results).toEqual([
      {name: 'plain', prompt: 'x'},
      {name: 'right', prompt: 'x', ok: true},
      {name: 'wrong', prompt: 'x', ok: false},
      {name: 'fails', error: 'no', line: 1, column: expect.any(Number), ok: true},
      {name: 'fails otherwise', error: 'no', line: 1, column: expect.any(Number), ok: false},
    ]);
    expect(code).toBe(3);
    expect(errors.at(-1)).toBe('b.jsonl: 5 rows, 2 of 4 as expected');
  });

  it('takes the template of the command line for rows without one', async () => {
    const {out} = await run({batch: 'b.jsonl', chatTemplate: dump}, rows({messages}));
    expect(JSON.parse(out)).toEqual({name: '1', prompt: '[{"role": "user", "content": "x"}]'});
  });

  it.each([
    [{'b.jsonl': 'nonsense'}, 'b.jsonl:1 is no JSON'],
    [rows({template: dump}), 'b.jsonl:1 has no list "messages"'],
    [rows({messages}), 'b.jsonl:1 has no template'],
    [rows({messages, template: 'missing.jinja'}), 'b.jsonl:1: there is no template missing.jinja'],
  ])('refuses %j', async (files, message) => {
    await expect(run({batch: 'b.jsonl'}, files)).rejects.toThrow(message);
  });
});

describe('what a template is like', () => {
  const marked = '{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %};{% endfor %}';

  it('shows what generation blocks write, and says so when there are none', async () => {
    const message = ['user=one', 'assistant=two'];
    expect((await run({chatTemplate: marked, message, mask: true})).out).toContain('0-3  "one"\n4-7  "two"');
    expect((await run({message, mask: true})).out).toContain('template has no generation block');
  });

  it('marks the tokens of generation blocks', async () => {
    const folder = await createTemporaryFolder({'t.jinja': marked});
    const chatTemplate = join(folder, 't.jinja');
    const {out} = await run({model: 'models/smollm2-135m-instruct', chatTemplate, message: ['user=one'], json: true});
    const {tokens, generation_mask: mask} = JSON.parse(out);
    expect(tokens.map(({text}: {text: string}, index: number) => [text, mask[index]])).toEqual([
      ['one', 1],
      [';', 0],
    ]);
  });

  it.each([
    [{message: ['user=a<|im_end|>b']}, '<|im_end|> in message 0'],
    [{message: ['user=a'], chatTemplate: '{{ "Answer: " }}'}, 'ends with a blank'],
    [
      {message: ['user=a'], chatTemplate: '{{ messages[0].content }}', chatTemplateContentFormat: 'openai' as const},
      'as a list',
    ],
    [
      {message: ['user=a', 'assistant=b', 'user=c'], chatTemplate: '{{ messages|length }}'},
      'ends at character 0: "1" became "3"',
    ],
  ])('warns of %j', async (options, warning) => {
    expect((await run({...options, check: true})).out).toContain(warning);
    expect((await run({...options, json: true})).out).toContain(JSON.stringify(warning).slice(1, -1));
  });

  it('finds nothing wrong with an ordinary prompt', async () => {
    expect((await run({check: true})).out).toContain('nothing looks wrong');
  });

  it('finds out what it can do', async () => {
    const chatTemplate =
      "{% for m in messages %}{% if loop.index0 and m.role == loop.previtem.role %}{{ raise_exception('no') }}{% endif %}" +
      '{{ m.content }}{% endfor %}{% if add_generation_prompt %}A: <think>\n{% endif %}';
    const {analysis} = JSON.parse((await run({chatTemplate, analyze: true, json: true})).out);
    expect(analysis).toMatchObject({
      'system messages': true,
      'generation prompt': 'A: <think>\n',
      'opens a thought': true,
      'users may follow one another': false,
      tools: false,
      '--tool-call-parser': null,
      '--reasoning-parser': 'deepseek_r1',
    });
  });
});

describe('--url', () => {
  it('asks a server, and compares with it', async () => {
    const {listen} = await openTestApp({}, {enableScaleOut: true});
    const url = await listen();
    const here = await run({message: ['user=hi']});
    expect((await run({message: ['user=hi'], url})).out).toBe(here.out);
    expect((await run({message: ['user=hi'], url, diff: 'url'})).code).toBe(0);
    const other = await run({message: ['user=hi'], chatTemplate: '{{ messages[0].content }}', url, diff: 'url'});
    expect(other).toMatchObject({code: 3, out: expect.stringContaining('-hi')});
  });

  it('says what stands in the way', async () => {
    const {listen} = await openTestApp();
    await expect(run({url: await listen()})).rejects.toMatchObject({
      hint: expect.stringContaining('--enable-scale-out'),
    });
    await expect(run({url: 'nonsense'})).rejects.toThrow('--url cannot be nonsense');
    await expect(run({url: 'http://127.0.0.1:1'})).rejects.toThrow('cannot be reached');
    await expect(run({diff: 'url'})).rejects.toThrow('--diff url needs a server');
  });
});

describe('ownLines', () => {
  it('takes back the lines that were written, long ones as high as the terminal makes them', () => {
    const sent: string[] = [];
    const stream = {isTTY: true, columns: 10, rows: 24, write: (text: string) => sent.push(text) > 0};
    const writers = {write: (text: string) => void sent.push(text), writeError: (line: string) => void sent.push(line)};
    const lines = ownLines(stream, writers);
    lines.clear();
    writers.write('one\n\u001b[7mtwelve signs\u001b[27m\n');
    writers.writeError('last');
    lines.clear();
    expect(sent.at(-1)).toBe('\u001b[4F\u001b[0J');
    expect(sent).toHaveLength(3);
  });
});
