/** Formats that the checkpoint describes are refused at the start when the description is missing, broken or short. */
import {describe, expect, it} from 'vitest';
import {answerFormats} from '../../support/answer-formats.ts';

const load = (tool: string | null, reasoning: string | null, responseTemplate: unknown) =>
  answerFormats(tool, reasoning, {}, {responseTemplate});

const calls = {open: '<c>', close: '</c>', content: 'json'};

describe('formats that the checkpoint describes', () => {
  it.each([
    [
      'hf',
      'hf',
      undefined,
      '--reasoning-parser hf --tool-call-parser hf requires `response_template` metadata in the tokenizer configuration',
    ],
    [
      'beam',
      null,
      null,
      '--tool-call-parser beam requires `response_template` metadata in the tokenizer configuration',
    ],
    ['hf', null, {fields: {content: {}}}, '--tool-call-parser hf requires a response_template with a tool_calls field'],
    [null, 'hf', {fields: {content: {}}}, '--reasoning-parser hf requires a response_template with a thinking field'],
    ['hf', 'beam', {}, '--reasoning-parser beam and --tool-call-parser hf cannot be combined'],
    ['hf', null, {version: 1}, /^Invalid response_template metadata: fields: /],
  ])('%s with %s and %j', async (tool, reasoning, template, message) => {
    await expect(load(tool, reasoning, template)).rejects.toThrow(message);
  });

  it('are used when the description has their fields', async () => {
    const formats = await load('hf', null, {fields: {tool_calls: calls, content: {}}});
    expect(formats?.tool?.names).toEqual(['hf']);
  });
});
