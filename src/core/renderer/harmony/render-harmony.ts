/**
 * The prompt of gpt-oss: a chat request to parts, control tokens and plain text one after the other. Everything that a
 * message says is plain, so that control tokens written in it stay text.
 */
import type {PromptPart} from '../../model/prompt-parts.ts';
import {type HarmonyMessage, type HarmonyRequest, type HarmonySettings, toHarmonyMessages} from './harmony-messages.ts';

/** Control tokens that every prompt needs. */
const harmonyControlTokens = ['<|start|>', '<|end|>', '<|message|>', '<|channel|>', '<|call|>'] as const;

type ControlToken = (typeof harmonyControlTokens)[number];

/** Whether a tokenizer knows the control tokens. */
export function knowsHarmony(tokenizer: {tokenToId(token: string): number | null}): boolean {
  return harmonyControlTokens.every((token) => tokenizer.tokenToId(token) !== null);
}

/**
 * The conversation with the header of the answer open.
 * @throws ValidationError
 */
export function renderHarmony(request: HarmonyRequest, settings: HarmonySettings): PromptPart[] {
  const messages = toHarmonyMessages(request, settings);
  return [...messages.flatMap(messageParts), control('<|start|>'), plain('assistant')].filter(({text}) => text !== '');
}

function messageParts(message: HarmonyMessage): PromptPart[] {
  const {channel, contentType, texts} = message;
  const isCall = message.author === 'assistant' && message.recipient !== undefined;
  return [
    control('<|start|>'),
    plain(isCall ? `${message.author} to=${message.recipient}` : message.author),
    ...(channel === undefined ? [] : [control('<|channel|>'), plain(channel + addressee(message))]),
    ...(contentType === undefined ? [] : [plain(` ${contentType}`)]),
    control('<|message|>'),
    ...texts.map(plain),
    control(isCall ? '<|call|>' : '<|end|>'),
  ];
}

/** Results of tools name behind the channel whom they go to. */
function addressee({author, recipient}: HarmonyMessage): string {
  return author === 'assistant' || recipient === undefined ? '' : ` to=${recipient}`;
}

function control(text: ControlToken): PromptPart {
  return {kind: 'marked', text};
}

function plain(text: string): PromptPart {
  return {kind: 'plain', text};
}
