/**
 * What `tokenizer_config.json` (and the older `special_tokens_map.json`) say besides the vocabulary: the special tokens
 * that templates know by name, and the chat templates kept there.
 */
import {ModelError} from '../errors.ts';

/** Names of the special tokens, as in the file and as template variables. */
const specialTokenNames = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

export type SpecialTokenName = (typeof specialTokenNames)[number];

/** Texts of the special tokens that are set. */
export type SpecialTokenTexts = ReadonlyMap<SpecialTokenName, string>;

type JsonObject = Record<string, unknown>;

/** Reads the special tokens; the first file that sets a name wins. An entry is a text or an object with `content`. */
export function readSpecialTokenTexts(files: readonly (JsonObject | null)[]): SpecialTokenTexts {
  const texts = new Map<SpecialTokenName, string>();
  for (const name of specialTokenNames) {
    const text = files.map((file) => tokenText(file?.[name])).find((candidate) => candidate !== null);
    if (text) texts.set(name, text);
  }
  return texts;
}

/**
 * Reads the key `chat_template`: one text (named `default`) or a list of `{name, template}`.
 * @throws ModelError when it is neither
 */
export function readConfigTemplates(config: JsonObject | null): Map<string, string> {
  const value = config?.chat_template ?? null;
  if (value === null) return new Map();
  if (typeof value === 'string') return new Map([['default', value]]);
  if (Array.isArray(value) && value.every(isNamedTemplate)) {
    return new Map(value.map(({name, template}) => [name, template]));
  }
  throw new ModelError('tokenizer_config.json: chat_template must be a text or a list of {"name", "template"}.');
}

function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const content = (value as JsonObject | null | undefined)?.content;
  return typeof content === 'string' ? content : null;
}

function isNamedTemplate(value: unknown): value is {name: string; template: string} {
  const entry = value as JsonObject | null;
  return typeof entry?.name === 'string' && typeof entry.template === 'string';
}
