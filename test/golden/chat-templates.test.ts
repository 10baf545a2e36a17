/**
 * Chats through every stored template, as transformers renders them, and what is read from the templates themselves. The
 * texts of errors are compared too: they are what a client sees.
 */
import {describe, expect, it} from 'vitest';
import {hasSharedData} from '../support/shared-data.ts';
import {readExactRows, renderRow, storedTemplate, type TemplateRow} from '../support/template-rows.ts';

const rows = readExactRows<TemplateRow>('chat-templates.jsonl');

describe.skipIf(!hasSharedData)('chat-templates.jsonl', () => {
  it.each(rows.filter((row) => row.expected !== undefined))('$name', async (row) => {
    expect(await renderRow(row)).toBe(row.expected);
  });

  it.each(rows.filter((row) => row.error !== undefined))('$name fails with the recorded text', async (row) => {
    await expect(renderRow(row)).rejects.toMatchObject({message: row.error});
  });
});

interface TemplateFacts {
  template: string;
  content_format: string;
  variables: string[];
}

describe.skipIf(!hasSharedData)('chat-template-facts.jsonl', () => {
  it.each(readExactRows<TemplateFacts>('chat-template-facts.jsonl'))('$template', (facts) => {
    const {contentFormat, variables} = storedTemplate(facts.template);
    expect(contentFormat).toBe(facts.content_format);
    expect([...variables].sort()).toEqual(facts.variables.toSorted());
  });
});
