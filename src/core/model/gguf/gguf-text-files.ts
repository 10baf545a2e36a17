/**
 * The text side of a GGUF file that stands alone: its tokenizer, chat templates and sampling defaults are written as the
 * usual files of a model folder into the user's cache, so that everything behind reads one kind of file. Written once for
 * each GGUF file, under another name first, so that nobody reads half of it.
 */
import {createHash, randomBytes} from 'node:crypto';
import {mkdir, rename, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {writableCacheFolder} from '../cache-folder.ts';
import {GgufFile} from './gguf-file.ts';
import {type GgufVocabulary, readVocabulary, tokenKinds, toTokenizerJson} from './gguf-tokenizer.ts';

/** To be raised with every change of what is written. */
const formatVersion = 1;

/** Control tokens that end an answer, whichever of them the file names as its end. */
const endTexts: ReadonlySet<string> = new Set([
  '<|endoftext|>',
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|return|>',
  '<|call|>',
  '<end_of_turn>',
  '</s>',
]);

/**
 * @param path a GGUF file
 * @returns the folder with its text files
 * @throws ModelError when the file is damaged or its tokenizer is of an unknown kind
 */
export async function textFolderOf(path: string): Promise<string> {
  const {size, mtimeMs} = await stat(path);
  const name = createHash('sha256')
    .update(JSON.stringify([formatVersion, path, size, mtimeMs]))
    .digest('hex')
    .slice(0, 32);
  const root = await writableRoot();
  const folder = join(root, name);
  if ((await stat(folder).catch(() => null)) !== null) return folder;
  const files = await readTextFiles(path);
  const draft = join(root, `${name}.${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(draft);
  for (const [file, content] of Object.entries(files)) await writeFile(join(draft, file), JSON.stringify(content));
  // When another process was first, its folder has the same content.
  await rename(draft, folder).catch(() => rm(draft, {recursive: true, force: true}));
  return folder;
}

async function writableRoot(): Promise<string> {
  const hint = 'Set XDG_CACHE_HOME to a folder that can be written.';
  return join(await writableCacheFolder({chosen: null, part: 'tokenizers', hint}), 'tokenizers');
}

async function readTextFiles(path: string): Promise<Record<string, unknown>> {
  const file = await GgufFile.open(path);
  try {
    const vocabulary = readVocabulary(file);
    return {
      'tokenizer.json': toTokenizerJson(file, vocabulary),
      'tokenizer_config.json': toTokenizerConfig(file, vocabulary),
      'generation_config.json': toGenerationConfig(file, vocabulary),
    };
  } finally {
    await file.close();
  }
}

const specialKeys = {
  bos_token: 'tokenizer.ggml.bos_token_id',
  eos_token: 'tokenizer.ggml.eos_token_id',
  unk_token: 'tokenizer.ggml.unknown_token_id',
  pad_token: 'tokenizer.ggml.padding_token_id',
} as const;

function toTokenizerConfig(file: GgufFile, {tokens}: GgufVocabulary) {
  const specials = Object.entries(specialKeys).flatMap(([name, key]) => {
    const id = file.optionalInteger(key);
    const text = id === null ? undefined : tokens[id];
    return text === undefined ? [] : [[name, text]];
  });
  const templates = readTemplates(file);
  return {
    ...Object.fromEntries(specials),
    ...(templates.length > 0 && {chat_template: templates}),
  };
}

/** The template of the file, and further ones that it names. */
function readTemplates(file: GgufFile): {name: string; template: string}[] {
  const names = file.optionalTexts('tokenizer.chat_templates') ?? [];
  const keys = [
    ['default', 'tokenizer.chat_template'],
    ...names.map((name) => [name, `tokenizer.chat_template.${name}`]),
  ];
  return keys.flatMap(([name = '', key = '']) => {
    const template = file.optionalText(key);
    return template === null ? [] : [{name, template}];
  });
}

const samplingKeys = {
  temperature: 'general.sampling.temp',
  top_k: 'general.sampling.top_k',
  top_p: 'general.sampling.top_p',
  min_p: 'general.sampling.min_p',
} as const;

function toGenerationConfig(file: GgufFile, {tokens, kinds}: GgufVocabulary) {
  const named = ['eos', 'eot', 'eom'].map((name) => file.optionalInteger(`tokenizer.ggml.${name}_token_id`));
  const byText = tokens.map((text, id) => (kinds[id] === tokenKinds.control && endTexts.has(text) ? id : null));
  const endIds = [...new Set([...named, ...byText])].filter((id) => id !== null);
  const sampling = Object.entries(samplingKeys).flatMap(([name, key]) => {
    const value = file.optionalNumber(key);
    // Seven digits are what the file's 32 bits hold.
    return value === null ? [] : [[name, Number(value.toPrecision(7))]];
  });
  return {...(endIds.length > 0 && {eos_token_id: endIds}), ...Object.fromEntries(sampling)};
}
