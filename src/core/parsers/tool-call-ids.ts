/**
 * Ids of tool calls in the styles that clients know from each model family. The number of a generated Kimi id counts on
 * from the calls already in the conversation, so that ids stay unique over it.
 */

import {randomBytes} from 'node:crypto';
import type {ToolCallIdStyle} from './format.ts';
import type {ParserContext} from './output-parser.ts';

const DEFAULT_DIGITS = 16;
const MISTRAL_LENGTH = 9;
const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export interface NewToolCall {
  name: string;
  /** Of the call within its choice, from 0. */
  index: number;
}

type MakeId = (call: NewToolCall, context: ParserContext) => string;

const makers: Readonly<Record<ToolCallIdStyle, MakeId>> = {
  default: (_call, context) => `chatcmpl-tool-${(context.randomHex ?? randomHex)(DEFAULT_DIGITS)}`,
  kimi: (call, context) => `functions.${call.name}:${context.numEarlierToolCalls + call.index}`,
  mistral: (_call, context) => alphanumeric((context.randomHex ?? randomHex)(2 * MISTRAL_LENGTH)),
};

export function makeToolCallId(style: ToolCallIdStyle, call: NewToolCall, context: ParserContext): string {
  return makers[style](call, context);
}

function randomHex(length: number): string {
  return randomBytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length);
}

/** One letter or digit for every two hex characters. */
function alphanumeric(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  return Array.from(bytes, (byte) => ALPHANUMERIC.charAt(byte % ALPHANUMERIC.length)).join('');
}
