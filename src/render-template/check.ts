/**
 * `--check`: what is suspicious about a prompt although it rendered. Each check looks at one rendering and says what is
 * wrong in one line, or nothing.
 */
import {sourceText} from '../core/model/prompt-parts.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import type {ChatMessage} from '../core/protocol/openai/messages.ts';
import type {OpenedModel} from './open-model.ts';
import type {PromptRenderer} from './render-prompt-text.ts';

/** What the checks look at. */
export interface CheckedPrompt {
  text: string;
  /** Null = unknown. */
  tokens: readonly unknown[] | null;
  request: ChatCompletionRequest;
  renderer: PromptRenderer;
  model: OpenedModel;
  controlTexts: readonly string[];
  options: {escapeControlTokens: boolean};
}

type Check = (rendering: CheckedPrompt) => string | null | Promise<string | null>;

const checks: readonly Check[] = [
  doubledBos,
  controlTokensInMessages,
  printedParts,
  trailingBlank,
  tooLong,
  unstablePrefix,
];

/** @returns one line for each thing that looks wrong */
export async function findWarnings(rendering: CheckedPrompt): Promise<string[]> {
  const found: (string | null)[] = [];
  for (const check of checks) found.push(await check(rendering));
  return found.filter((warning) => warning !== null);
}

function doubledBos({text, model}: CheckedPrompt): string | null {
  const bos = model.specialTokens.get('bos_token');
  return bos && text.startsWith(bos + bos) ? `The prompt begins with ${bos} twice.` : null;
}

function controlTokensInMessages({request, controlTexts, options}: CheckedPrompt): string | null {
  if (options.escapeControlTokens) return null;
  const places = request.messages.flatMap((message, index) => {
    const held = controlTexts.filter((text) => messageText(message).includes(text));
    return held.map((text) => `${text} in message ${index}`);
  });
  if (places.length === 0) return null;
  return `Control tokens are written in messages and take effect: ${places.join(', ')} (--escape-control-tokens keeps them text).`;
}

function messageText({content}: ChatMessage): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((part) => (typeof part === 'string' ? part : part.text));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

function printedParts({text}: CheckedPrompt): string | null {
  const isPrinted = /\[\{['"]type['"]: ?['"]text['"]/.test(text);
  return isPrinted ? 'The template prints content parts as a list; try --chat-template-content-format string.' : null;
}

function trailingBlank({text, request}: CheckedPrompt): string | null {
  if (!request.add_generation_prompt || !/[ \t]$/.test(text)) return null;
  return 'The prompt ends with a blank, which models rarely expect before their answer.';
}

function tooLong({tokens, model}: CheckedPrompt): string | null {
  if (tokens === null || model.maxModelLen === null || tokens.length <= model.maxModelLen) return null;
  return `The prompt has ${tokens.length} tokens, and the model takes ${model.maxModelLen}.`;
}

/** A server computes again what the next turn changes of a prompt. */
async function unstablePrefix({request, renderer, text}: CheckedPrompt): Promise<string | null> {
  for (const [index, {role}] of request.messages.entries()) {
    if (role !== 'assistant' || index === 0) continue;
    const messages = request.messages.slice(0, index);
    const asked = {...request, messages, add_generation_prompt: true, continue_final_message: false};
    const before = await renderer.render(asked).then(sourceText, () => null);
    if (before === null || text.startsWith(before)) continue;
    const at = commonLength(before, text);
    const [old, now] = [before, text].map((side) => JSON.stringify(side.slice(at, at + 20)));
    return `The prompt before message ${index} is no beginning of this one, so its cached part ends at character ${at}: ${old} became ${now}.`;
  }
  return null;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
