/** Rows of recorded template renders, read with the kinds of numbers kept, and how one is rendered here. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {type ChatTemplate, ChatTemplateCache} from '../../src/core/renderer/chat-template.ts';
import {renderOpenConversation} from '../../src/core/renderer/continue-final-message.ts';
import type {ConversationMessage} from '../../src/core/renderer/normalize-messages.ts';
import {parseJson} from '../../src/core/util/parse-json.ts';
import {hasSharedData, readGoldenTexts, sharedFolder} from './shared-data.ts';

export interface TemplateRow {
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

/** When the renders were recorded. */
export const recordedNow = () => new Date(Date.UTC(2026, 0, 5, 13, 7, 9));

/** Empty where the recorded files are absent. */
export function readExactRows<T>(name: string): T[] {
  return hasSharedData ? readGoldenTexts(name).map((line) => parseJson(line) as T) : [];
}

export function readStoredTemplate(name: string): string {
  return readFileSync(join(sharedFolder, 'golden/templates', name), 'utf8');
}

const cache = new ChatTemplateCache();

export function storedTemplate(name: string): ChatTemplate {
  return cache.get(readStoredTemplate(name));
}

/** The text of a row without an open last message. */
export function renderMessages(row: TemplateRow, messages: readonly ConversationMessage[] = row.messages): string {
  const {tools, documents, add_generation_prompt, kwargs} = row;
  const variables = {messages, tools, documents, add_generation_prompt, ...kwargs};
  return storedTemplate(row.template).render(variables, {now: recordedNow});
}

export async function renderRow(row: TemplateRow): Promise<string> {
  if (!row.continue_final_message) return renderMessages(row);
  const {source} = storedTemplate(row.template);
  return renderOpenConversation(row.messages, source, (messages) => renderMessages(row, messages));
}
