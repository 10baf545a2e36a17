/**
 * Faults that people reported of templates in other programs (cases PR-template-* and PR-reasoning-01, public reports), on
 * ours: the prompt that `parlance render-template` shows.
 */
import {describe, expect, it} from 'vitest';
import {type RenderTemplateOptions, renderTemplateOptionsSchema} from '../../../src/render-template/options.ts';
import {noColours} from '../../../src/render-template/paint.ts';
import {runRenderTemplate} from '../../../src/render-template/run.ts';

const userSays = (content: unknown) => ({role: 'user', content});
const assistantSays = (content: unknown, fields: object = {}) => ({role: 'assistant', content, ...fields});

/** The prompt that the template makes of these messages, or of a request. */
async function prompt(
  template: string,
  given: object[] | object = [userSays('Hi')],
  options: Partial<RenderTemplateOptions> = {},
): Promise<string> {
  let text = '';
  const parsed = renderTemplateOptionsSchema.parse({chatTemplate: template, messages: 'request.json', ...options});
  await runRenderTemplate(
    {...parsed, model: null, json: false},
    {
      readText: async () => JSON.stringify(Array.isArray(given) ? {messages: given} : given),
      write: (part) => {
        text += part;
      },
      writeError: (line) => expect.fail(line),
      isTerminal: false,
      palette: noColours,
    },
  );
  return text;
}

describe('what templates are written in', () => {
  it('PR-template-01: generation marks print nothing', async () => {
    const marked =
      '{% for m in messages %}<{% if m.role == "assistant" %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}>{% endfor %}';
    const plain = marked.replace('{% generation %}', '').replace('{% endgeneration %}', '');
    const talk = [userSays('a'), assistantSays('b'), userSays('c')];
    expect(await prompt(marked, talk)).toBe('<a><b><c>');
    expect(await prompt(plain, talk)).toBe('<a><b><c>');
  });

  it('PR-template-02: JSON keeps letters and signs as they are', async () => {
    const description = '<b>Zürich & "日本"</b>';
    const request = {messages: [userSays('Hi')], tools: [{type: 'function', function: {name: 'f', description}}]};
    expect(await prompt('{{ tools | tojson }}', request)).toContain('"description": "<b>Zürich & \\"日本\\"</b>"');
  });

  it('PR-template-03: the date is known', async () => {
    const shown = await prompt("{{ strftime_now('%d %b %Y') }}");
    expect(shown).toMatch(/^\d\d [A-Z][a-z]{2} \d{4}$/);
    // Around midnight the test and the template may see two days.
    expect(Math.abs(Date.parse(shown) - Date.now())).toBeLessThan(2 * 24 * 3600 * 1000);
    expect(await prompt("{{ strftime_now('%d %b %Y') }}", undefined, {date: '2026-01-31'})).toBe('31 Jan 2026');
  });

  it('PR-template-04: none is a value and no name', async () => {
    const template =
      '{% if not tools is defined %}{% set tools = none %}{% endif %}{% if tools is not none %}X{% else %}Y{% endif %}';
    expect(await prompt(template)).toBe('Y');
  });

  it('PR-template-05: rejectattr', async () => {
    const template = "{{ messages | rejectattr('role','equalto','system') | list | length }}";
    expect(await prompt(template, [{role: 'system', content: 's'}, userSays('a'), assistantSays('b')])).toBe('2');
  });

  it('PR-template-06: break and continue', async () => {
    const template =
      '{% for m in messages %}{% if m.role == "system" %}{% continue %}{% endif %}{% if m.content == "stop" %}{% break %}{% endif %}[{{ m.content }}]{% endfor %}';
    const talk = [{role: 'system', content: 's'}, userSays('a'), userSays('stop'), userSays('b')];
    expect(await prompt(template, talk)).toBe('[a]');
  });
});

describe('what templates are given', () => {
  const joins = "{% for m in messages %}{{ '<' + m.content + '>' }}{% endfor %}";
  const prints = '{% for m in messages %}<{{ m.content }}>{% endfor %}';

  it.each([joins, prints])('PR-template-07: parts become one text, on lines of their own: %s', async (template) => {
    const parts = ['A', 'B'].map((text) => ({type: 'text', text}));
    expect(await prompt(template, [userSays(parts)])).toBe('<A\nB>');
  });

  it.each([joins, prints])('PR-template-08: results of tools come as text: %s', async (template) => {
    const call = {id: 'c', type: 'function', function: {name: 'f', arguments: '{}'}};
    const result = {role: 'tool', tool_call_id: 'c', content: [{type: 'text', text: '21 C'}]};
    expect(await prompt(template, [userSays('a'), assistantSays('', {tool_calls: [call]}), result])).toBe(
      '<a><><21 C>',
    );
  });

  it.each([
    ['does not trim', prints, '<Hi><Well,\n\n'],
    ['trims', prints.replace('m.content', 'm.content | trim'), '<Hi><Well,'],
  ])(
    'PR-template-09: an answer that goes on ends as it was begun, with a template that %s',
    async (_what, template, expected) => {
      const talk = [userSays('Hi'), assistantSays('Well,\n\n')];
      expect(await prompt(template, talk, {addGenerationPrompt: false, continueFinalMessage: true})).toBe(expected);
    },
  );

  it('PR-reasoning-01: earlier thoughts are seen under both names', async () => {
    const template =
      '{% for m in messages %}<{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}{{ m.content }}>{% endfor %}';
    const other = template.replaceAll('reasoning_content', 'reasoning');
    for (const name of ['reasoning', 'reasoning_content']) {
      const talk = [userSays('2+2?'), assistantSays('4', {[name]: 'two and two'}), userSays('sure?')];
      expect(await prompt(template, talk)).toBe('<2+2?><(two and two)4><sure?>');
      expect(await prompt(other, talk)).toBe('<2+2?><(two and two)4><sure?>');
    }
  });
});
