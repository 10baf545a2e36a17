/**
 * The template and tokenizer of a rendering: from a model folder, a GGUF file's folder, or a template file alone. Weights
 * are not needed, and neither is a tokenizer unless tokens are asked for.
 */
import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {UsageError} from '../core/errors.ts';
import {defaultModelSource, findTextFilesOnHub} from '../core/model/find-model.ts';
import {hubContext} from '../core/model/hub-progress.ts';
import {loadModelConfig} from '../core/model/model-config.ts';
import {findTextFiles, findTextFilesOfGguf, resolveModel, type TextFiles} from '../core/model/resolve-model.ts';
import {loadTokenizer, type Tokenizer} from '../core/model/tokenizer.ts';
import {readSpecialTokenTexts, type SpecialTokenTexts} from '../core/model/tokenizer-config.ts';
import {type ChatTemplates, findChatTemplates} from '../core/renderer/find-chat-template.ts';
import {silentLogger} from '../core/util/logger.ts';
import {readJsonObject} from '../core/util/read-json.ts';

export interface OpenedModel {
  /** For messages. */
  name: string;
  /** Null = no folder, only a template. */
  files: TextFiles | null;
  templates: ChatTemplates;
  specialTokens: SpecialTokenTexts;
  /** Longest sequence the model was trained for; null = unknown. */
  maxModelLen: number | null;
  modelType: string | null;
  /** Read when first asked for; null = the model has none. */
  tokenizer(): Promise<Tokenizer | null>;
}

const noFiles: TextFiles = {
  folder: '',
  tokenizerPath: null,
  tokenizerConfigPath: null,
  specialTokensMapPath: null,
  configPath: null,
  generationConfigPath: null,
  chatTemplatePath: null,
  additionalTemplatePaths: new Map(),
};

const templateFile = /\.(?:jinja2?|j2)$/;

/**
 * @param model folder, file or null; without model and template it is the embedded model
 * @throws UsageError, ModelError
 */
export async function openModel(model: string | null, chatTemplate: string | null): Promise<OpenedModel> {
  const isTemplate = model !== null && templateFile.test(model);
  const template = isTemplate ? model : chatTemplate;
  const files = isTemplate || (model === null && template !== null) ? null : await findFiles(model);
  const known = files ?? noFiles;
  const [templates, specialTokens, config] = await Promise.all([
    findChatTemplates(known, template),
    readSpecialTokens(known),
    loadModelConfig(known.configPath),
  ]);
  let tokenizer: Promise<Tokenizer | null> | null = null;
  return {
    name: model ?? (files === null ? 'template' : 'smollm2-135m-instruct'),
    files,
    templates,
    specialTokens,
    maxModelLen: config.maxPositionEmbeddings,
    modelType: config.modelType,
    tokenizer: () => (tokenizer ??= loadTokenizerOf(known)),
  };
}

async function findFiles(model: string | null): Promise<TextFiles> {
  if (model === null) return resolveModel(null);
  const path = resolve(model);
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory()) return findTextFiles(path);
  if (stats && path.toLowerCase().endsWith('.gguf')) return findTextFilesOfGguf(path);
  const context = hubContext({logger: silentLogger, signal: new AbortController().signal}, () => {});
  const onHub = stats ? null : await findTextFilesOnHub(model, defaultModelSource, context);
  if (onHub !== null) return onHub;
  throw new UsageError(`There is no model ${model}`, {
    hint: 'Give a folder with tokenizer or template files, an id on the Hugging Face Hub, or a template file that ends with .jinja.',
  });
}

async function readSpecialTokens({tokenizerConfigPath, specialTokensMapPath}: TextFiles): Promise<SpecialTokenTexts> {
  return readSpecialTokenTexts(
    await Promise.all([tokenizerConfigPath, specialTokensMapPath].map((file) => readJsonObject(file))),
  );
}

async function loadTokenizerOf({tokenizerPath, ...files}: TextFiles): Promise<Tokenizer | null> {
  return tokenizerPath === null ? null : loadTokenizer({...files, tokenizerPath});
}
