/**
 * What a chat message must look like before a template sees it: a role, and content of a kind that fits the role
 * (vllm/renderers/chat_utils/types.py). Other keys stay as they are. Which part types a model can use is the renderer's
 * question.
 */
import * as z from 'zod';
import {isPlainObject} from '../../util/parse-json.ts';
import {listLiterals} from './lax-types.ts';
import type {ChatMessage} from './messages.ts';
import {described, type JsonSchema} from './request-json-schema.ts';

/** Roles with a fixed message type; every other role is a custom one whose template decides. */
const OPENAI_ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const MEDIA_PARTS = [
  'image_url',
  'image_pil',
  'image_embeds',
  'input_audio',
  'audio_url',
  'audio_embeds',
  'video_url',
  'prompt_embeds',
  'file',
];
const OPENAI_PARTS = new Set(['text', 'refusal', ...MEDIA_PARTS]);

const LONE_SURROGATE = /\p{Surrogate}/u;

const contentPartDescription: JsonSchema = {
  type: 'object',
  required: ['type'],
  properties: {type: {type: 'string'}, text: {type: 'string'}},
  additionalProperties: true,
};

interface Fault {
  type: string;
  path: PropertyKey[];
  context?: Record<string, unknown>;
}

/** The role whose messages may also name the tools that were found. */
const TOOL_ROLE = 'tool';

function* stringFaults(value: unknown, path: PropertyKey[]): Generator<Fault> {
  if (typeof value !== 'string') yield {type: 'string_type', path};
  else if (LONE_SURROGATE.test(value)) yield {type: 'string_unicode', path};
}

/** A part of the types that OpenAI's messages know. */
function isOrdinaryPart(part: unknown, role: string): boolean {
  if (!isPlainObject(part) || typeof part.type !== 'string') return false;
  if (part.type === 'tool_reference') return role === TOOL_ROLE;
  if (!OPENAI_PARTS.has(part.type)) return false;
  return part.type !== 'text' || typeof part.text === 'string';
}

/** What the renderer cannot read; which types it knows is its own question. */
function* looseFaults(part: unknown, path: PropertyKey[]): Generator<Fault> {
  if (typeof part === 'string') yield* stringFaults(part, path);
  else if (!isPlainObject(part)) yield {type: 'dict_type', path};
  else if (typeof part.text === 'string') yield* stringFaults(part.text, [...path, 'text']);
}

function* strictFaults(part: unknown, path: PropertyKey[]): Generator<Fault> {
  if (!isPlainObject(part)) yield {type: 'dict_type', path};
  else if (typeof part.type !== 'string')
    yield {type: 'type' in part ? 'string_type' : 'missing', path: [...path, 'type']};
  else if (!OPENAI_PARTS.has(part.type))
    yield {type: 'literal_error', path: [...path, 'type'], context: {expected: listLiterals([...OPENAI_PARTS])}};
  else if (part.type === 'text') yield* stringFaults(part.text, [...path, 'text']);
}

/** For OpenAI's roles a list needs at least one part of OpenAI's types; what stands next to it is free. */
function* contentFaults(content: unknown, role: string): Generator<Fault> {
  if (content === undefined || (content === null && role === 'assistant')) return;
  if (!Array.isArray(content)) return yield* stringFaults(content, ['content']);
  const isFree = !OPENAI_ROLES.has(role) || content.some((part) => isOrdinaryPart(part, role));
  const faultsOf = isFree ? looseFaults : strictFaults;
  for (const [index, part] of content.entries()) yield* faultsOf(part, ['content', index]);
}

function* toolCallFaults(calls: unknown, role: string): Generator<Fault> {
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) return yield {type: 'list_type', path: ['tool_calls']};
  for (const [index, call] of calls.entries()) {
    const path = ['tool_calls', index];
    if (!isPlainObject(call)) yield {type: 'dict_type', path};
    else if (role === 'assistant') yield* functionCallFaults(call, path);
  }
}

/** Calls of another type than `function` are refused where the conversation is made. */
function* functionCallFaults(call: Record<string, unknown>, path: PropertyKey[]): Generator<Fault> {
  if (call.type === undefined) return yield {type: 'missing', path: [...path, 'type']};
  if (call.type !== 'function') return;
  const called = call.function;
  if (!isPlainObject(called)) return yield {type: 'dict_type', path: [...path, 'function']};
  for (const key of ['name', 'arguments']) {
    if (called[key] === undefined) yield {type: 'missing', path: [...path, 'function', key]};
    else yield* stringFaults(called[key], [...path, 'function', key]);
  }
}

function* messageFaults(message: unknown): Generator<Fault> {
  if (!isPlainObject(message)) return yield {type: 'dict_type', path: []};
  if (message.role === undefined) yield {type: 'missing', path: ['role']};
  else yield* stringFaults(message.role, ['role']);
  const role = String(message.role);
  yield* contentFaults(message.content, role);
  yield* toolCallFaults(message.tool_calls, role);
}

const anyMessage: z.ZodType<ChatMessage> = z.unknown().transform((message, context) => {
  for (const {path, ...fault} of messageFaults(message)) {
    context.issues.push({code: 'custom', message: fault.type, params: fault, path, input: message});
  }
  return message as ChatMessage;
});

/** Any object with a role and content that fits it; keys are kept. */
export const chatMessageSchema = described(anyMessage, () => ({
  type: 'object',
  required: ['role'],
  properties: {
    role: {type: 'string', description: [...OPENAI_ROLES, 'or one that the template knows'].join(', ')},
    content: {anyOf: [{type: 'string'}, {type: 'array', items: contentPartDescription}, {type: 'null'}]},
    name: {type: 'string'},
    reasoning: {type: ['string', 'null']},
    tool_calls: {type: ['array', 'null'], items: {type: 'object'}},
    tool_call_id: {type: 'string'},
  },
  additionalProperties: true,
}));
