/**
 * The parts of a message's content: which kinds there are, what text they hold, and the two forms in which a template
 * gets them. `string` format: one text, the parts joined by line feeds. `openai` format: the list of parts.
 * Follows vLLM's `vllm/entrypoints/chat_utils.py`.
 */
import {ValidationError} from '../errors.ts';
import type {ContentPart} from '../protocol/openai/messages.ts';

export type ContentFormat = 'string' | 'openai';

/** A part as a template sees it in `openai` format. */
export type TemplatePart = {type: string; [key: string]: unknown};

type RawPart = ContentPart | string;

interface PartKind {
  counts: 'text' | 'tool_reference' | 'media' | 'embeds';
  /** The key that holds the value. */
  key: string;
}

const text = (key: string): PartKind => ({counts: 'text', key});
const media = (key: string): PartKind => ({counts: 'media', key});

const partKinds: Readonly<Record<string, PartKind>> = {
  audio_embeds: media('audio_embeds'),
  audio_url: media('audio_url'),
  image_embeds: media('image_embeds'),
  image_pil: media('image_pil'),
  image_url: media('image_url'),
  input_audio: media('input_audio'),
  input_image: media('image_url'),
  input_text: text('text'),
  output_text: text('text'),
  prompt_embeds: {counts: 'embeds', key: 'prompt_embeds'},
  refusal: text('refusal'),
  text: text('text'),
  thinking: text('thinking'),
  tool_reference: {counts: 'tool_reference', key: 'name'},
  video_embeds: media('video_embeds'),
  video_url: media('video_url'),
};

/** A part without `type` is what the first of these keys says that it holds. */
const kindsByKey = [
  'image_url',
  'image_pil',
  'image_embeds',
  'audio_embeds',
  'video_embeds',
  'prompt_embeds',
  'audio_url',
  'input_audio',
  'video_url',
  'tool_reference',
];

/** Keys of a part that are not handed on to the template. */
const knownPartKeys = new Set([...Object.values(partKinds).map(({key}) => key), 'type', 'uuid', 'closed']);

/**
 * The content of a message as the template of this format gets it.
 * @param modelName named in the error when a part is no text
 * @throws ValidationError for media and for unknown kinds of parts
 */
export function formatContent(
  content: string | readonly RawPart[] | null | undefined,
  format: ContentFormat,
  modelName: string,
): string | TemplatePart[] {
  if (typeof content === 'string' && format === 'string') return content;
  const rawParts = typeof content === 'string' ? [content] : (content ?? []);
  const parts = rawParts.map((part) => readPart(part, modelName)).filter((part) => part !== null);
  return format === 'string' ? joinParts(parts) : parts;
}

/** The texts of parts, each on its own line; empty ones leave no line. */
export function joinParts(parts: readonly TemplatePart[]): string {
  return parts
    .map((part) => String(part.text ?? part.name))
    .filter((piece) => piece !== '')
    .join('\n');
}

/** Whether a part is an image, a sound or a film. */
export function isMediaPart(part: RawPart): boolean {
  if (typeof part === 'string') return false;
  const type: unknown = part.type ?? kindsByKey.find((key) => key in part);
  return typeof type === 'string' && Object.hasOwn(partKinds, type) && partKinds[type]!.counts === 'media';
}

/** @returns null for a text part without text */
function readPart(part: RawPart, modelName: string): TemplatePart | null {
  if (typeof part === 'string') return {type: 'text', text: part};
  const kind = kindOf(part);
  switch (kind.counts) {
    case 'text':
      return readTextPart(part, kind.key);
    case 'tool_reference':
      return {type: 'tool_reference', name: part[kind.key as keyof ContentPart]};
    case 'embeds':
      throw new ValidationError('You must set `--enable-prompt-embeds` to input `prompt_embeds`');
    case 'media':
      throw new ValidationError(`${modelName} is not a multimodal model`);
  }
}

function readTextPart(part: ContentPart, key: string): TemplatePart | null {
  const {[key]: value, ...others} = part as Record<string, unknown>;
  if (value === null || value === undefined) return null;
  const kept = Object.entries(others).filter(([name]) => !knownPartKeys.has(name));
  return {type: 'text', text: String(value), ...Object.fromEntries(kept)};
}

function kindOf(part: ContentPart): PartKind {
  const type: unknown = part.type ?? kindsByKey.find((key) => key in part);
  if (type === undefined) throw partTypeError("Missing 'type' field in multimodal part.");
  if (typeof type !== 'string') throw partTypeError("Invalid 'type' field in multimodal part.");
  const kind = Object.hasOwn(partKinds, type) ? partKinds[type] : undefined;
  if (kind) return kind;
  const allowed = Object.keys(partKinds).join(', ');
  throw partTypeError(`Unsupported chat content part type: '${type}'. Supported types: ${allowed}.`, type);
}

function partTypeError(message: string, value?: string): ValidationError {
  return new ValidationError(message, {param: 'type', value});
}
