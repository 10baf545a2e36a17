/**
 * Which chat template a server uses: `--chat-template` (a file or the text itself), else the files of the model folder,
 * else `tokenizer_config.json`. A model may have several templates with names; see rendering rules of
 * `transformers` (`tokenization_utils_base.py`, get_chat_template).
 */
import {readFile} from 'node:fs/promises';
import {ModelError, TemplateError, UsageError, ValidationError} from '../errors.ts';
import type {ModelFiles} from '../model/resolve-model.ts';
import {readConfigTemplates} from '../model/tokenizer-config.ts';
import {readFault} from '../util/file-fault.ts';
import {readJsonObject} from '../util/read-json.ts';
import {builtInTemplateNames, readBuiltInTemplate} from './built-in-templates.ts';
import {compileChatTemplate} from './chat-template.ts';

export interface ChatTemplates {
  /** `--chat-template`: its text, or the name of one of `named`. Null = not given. */
  override: string | null;
  /** Templates of the model by name; a single one is called `default`. */
  named: ReadonlyMap<string, string>;
  /** Where they come from, for the log. */
  source: string;
}

type TemplateFiles = Pick<ModelFiles, 'chatTemplatePath' | 'additionalTemplatePaths' | 'tokenizerConfigPath'>;

const noTemplateMessage =
  'As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one. ' +
  'Start the server with --chat-template: a file, the text of a template, or the name of a built-in one.';

/**
 * Reads all templates that requests may need.
 * @param argument value of `--chat-template`; null = not given
 * @throws ModelError when a file is damaged; UsageError when the argument is a path that does not exist or a template
 *   that no request could use
 */
export async function findChatTemplates(files: TemplateFiles, argument: string | null): Promise<ChatTemplates> {
  const named = await readNamedTemplates(files);
  if (argument === null) return {override: null, named: named.templates, source: named.source};
  const isName = named.templates.has(argument);
  const override = isName ? argument : checkedTemplate(await readTemplateArgument(argument));
  return {override, named: named.templates, source: '--chat-template'};
}

export interface TemplateChoice {
  /** Template or template name of the request; null = none. */
  requested: string | null;
  hasTools: boolean;
}

/**
 * The template for one request: its own, the server's, the model's.
 * @throws ValidationError when there is none
 */
export function chooseTemplate({override, named}: ChatTemplates, {requested, hasTools}: TemplateChoice): string {
  const given = requested ?? override;
  if (given) return named.get(given) ?? given;
  const template = (hasTools && named.get('tool_use')) || named.get('default');
  if (template === undefined) throw new ValidationError(noTemplateMessage);
  return template;
}

async function readNamedTemplates(files: TemplateFiles): Promise<{templates: Map<string, string>; source: string}> {
  const paths = new Map(files.additionalTemplatePaths);
  if (files.chatTemplatePath) paths.set('default', files.chatTemplatePath);
  if (paths.size > 0) return {templates: await readAll(paths), source: [...paths.values()].join(', ')};
  const templates = readConfigTemplates(await readJsonObject(files.tokenizerConfigPath));
  return {templates, source: templates.size > 0 ? files.tokenizerConfigPath! : 'none'};
}

async function readAll(paths: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const entries = [...paths].map(async ([name, path]): Promise<[string, string]> => [name, await readTemplate(path)]);
  return new Map(await Promise.all(entries));
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ModelError(`The chat template ${path} cannot be read: ${readFault(error)}`, {cause: error});
  }
}

/** A file when there is one; else the text itself, unless it can only have been meant as a path or a name. */
async function readTemplateArgument(argument: string): Promise<string> {
  const text = await readFile(argument, 'utf8').catch(() => null);
  if (text !== null) return text;
  if (/[{}\n]/.test(argument)) return argument;
  return (await readBuiltInTemplate(argument)) ?? missingTemplate(argument);
}

async function missingTemplate(argument: string): Promise<never> {
  const names = (await builtInTemplateNames()).join(', ');
  throw new UsageError(
    `The supplied chat template string (${argument}) appears path-like, but doesn't exist! Tried: ${argument} and the built-in templates`,
    {hint: `--chat-template takes a file, the text of a template, or one of ${names}.`},
  );
}

/** The operator hears of a mistake at the start, not with the first request. */
function checkedTemplate(source: string): string {
  const mistake = templateMistake(source);
  if (mistake === null) return source;
  throw new UsageError(`The template of --chat-template has a mistake in ${mistake.text}`, {cause: mistake.cause});
}

/** Place, words and lines of what is wrong with the source; null when it can be compiled. */
function templateMistake(source: string): {text: string; cause: TemplateError} | null {
  try {
    compileChatTemplate(source);
    return null;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const [message] = error.message.split('\n');
    return {text: `line ${error.line}, column ${error.column}: ${message}\n${error.codeFrame}`, cause: error};
  }
}

/**
 * What the operator should know of the templates before the first request fails: that there is none, or that one of the
 * model cannot be used. Such a model may still be good for completions, so it is served.
 */
export function faultsOfTemplates({override, named, source}: ChatTemplates): string[] {
  if (override === null && named.size === 0) {
    return ['The model has no chat template, so chat requests are answered with 400; --chat-template gives it one'];
  }
  const used = [...named].filter(([name]) => override === null || override === name);
  return used.flatMap(([name, template]) => {
    const mistake = templateMistake(template);
    if (mistake === null) return [];
    const which = named.size === 1 ? 'The chat template' : `The chat template "${name}"`;
    const remedy = 'Chat requests that use it are answered with 400; --chat-template replaces it.';
    return [`${which} of the model (${source}) has a mistake in ${mistake.text}\n${remedy}`];
  });
}
