/** Rendered prompts of the embedded model's template, and the content format of every stored template. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {compileChatTemplate} from '../../src/core/renderer/chat-template.ts';
import {renderOpenConversation} from '../../src/core/renderer/continue-final-message.ts';
import type {ConversationMessage} from '../../src/core/renderer/normalize-messages.ts';
import {hasSharedData, readGoldenLines, sharedFolder} from '../support/shared-data.ts';

interface TemplateRow {
  name: string;
  template: string;
  messages: ConversationMessage[];
  tools: unknown;
  documents: unknown;
  kwargs: Record<string, unknown>;
  add_generation_prompt: boolean;
  continue_final_message: boolean;
  expected?: string;
  error?: string;
  etype?: string;
}

function readTemplate(name: string): string {
  return readFileSync(join(sharedFolder, 'golden/templates', name), 'utf8');
}

function renderRow(row: TemplateRow): string {
  const {messages, tools, documents, add_generation_prompt, kwargs} = row;
  const template = compileChatTemplate(readTemplate(row.template));
  const render = (conversation: readonly ConversationMessage[]) =>
    template.render({messages: conversation, tools, documents, add_generation_prompt, ...kwargs});
  return row.continue_final_message ? renderOpenConversation(messages, template.source, render) : render(messages);
}

/** Content that is no text reaches no template of this kind: the renderer makes it one before. */
function isReachable({messages}: TemplateRow): boolean {
  return messages.every(({content}) => typeof content === 'string');
}

const allRows = hasSharedData ? readGoldenLines<TemplateRow>('chat-templates.jsonl') : [];
const smollmRows = allRows.filter((row) => row.template === 'smollm2.jinja' && isReachable(row));

/** Templates that read the clock or use what the template engine lacks. */
const beyondTheEngine =
  /^(axolotl-(mistral|qwen)|gpt-oss|granite-3|llm-jp|mistral-small|qwen3\.jinja|seed-oss|smollm3|vllm-(alpaca|basic|dse|inkbot|llama|mistral3|phi4|qwen3-reranker|xlam_qwen))/;

const continuedRows = allRows.filter((row) => row.continue_final_message && !beyondTheEngine.test(row.template));

describe.skipIf(!hasSharedData)('chat-templates.jsonl', () => {
  it.each(smollmRows.filter((row) => row.expected !== undefined))('$name', (row) => {
    expect(renderRow(row)).toBe(row.expected);
  });

  it.each(smollmRows.filter((row) => row.error !== undefined))('$name fails', (row) => {
    expect(() => renderRow(row)).toThrow();
  });

  it('has the rows that this file looks at', () => {
    expect(smollmRows.length).toBeGreaterThan(10);
  });
});

describe.skipIf(!hasSharedData)('continue_final_message', () => {
  it.each(continuedRows.filter((row) => row.expected !== undefined))('$name', (row) => {
    expect(renderRow(row)).toBe(row.expected);
  });

  it.each(continuedRows.filter((row) => row.etype === 'ValueError'))('$name fails with the recorded text', (row) => {
    expect(() => renderRow(row)).toThrow(row.error);
  });

  it('has the rows that this file looks at', () => {
    expect(continuedRows.length).toBeGreaterThan(80);
  });
});

describe.skipIf(!hasSharedData)('chat-template-facts.jsonl', () => {
  const facts = hasSharedData
    ? readGoldenLines<{template: string; content_format: string}>('chat-template-facts.jsonl')
    : [];
  /** Holds a `raw` block, which the template engine does not parse. */
  const unparsed = 'vllm-dse-qwen2-vl.jinja';

  it.each(facts.filter(({template}) => template !== unparsed))('$template is $content_format', (fact) => {
    expect(compileChatTemplate(readTemplate(fact.template)).contentFormat).toBe(fact.content_format);
  });
});
