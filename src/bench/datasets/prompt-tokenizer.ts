/**
 * Counts and cuts prompts in tokens: with the files of a tokenizer, or by asking the server that is measured, or, where
 * neither is there, by an estimate that says so.
 */
import {resolve} from 'node:path';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {defaultModelSource, findTextModel} from '../../core/model/find-model.ts';
import {type FileProgress, hubContext} from '../../core/model/hub-progress.ts';
import {loadTokenizer, type TokenizerFiles} from '../../core/model/tokenizer.ts';
import {silentLogger} from '../../core/util/logger.ts';
import {type HttpClient, jsonOf} from '../target/http-client.ts';
import {lines} from './source-text.ts';

export interface PromptTokenizer {
  source: 'local' | 'server' | 'estimate';
  /** For results: a folder or the address asked; null for estimates. */
  id: string | null;
  count(text: string): Promise<number>;
  /** Null for estimates, which know no tokens. */
  encoding: {encode(text: string): Promise<number[]>; decode(tokenIds: readonly number[]): Promise<string>} | null;
}

/**
 * @param named a folder, a `tokenizer.json`, a GGUF file, an id on the Hugging Face Hub; null = that of the embedded model
 * @param note told of each file that is fetched
 */
export async function localTokenizer(
  named: string | null,
  note: (line: string) => void = () => {},
): Promise<PromptTokenizer> {
  const tokenizer = await loadTokenizer(named?.endsWith('.json') ? fileAt(named) : await filesOf(named, note));
  const encode = (text: string) => tokenizer.encode(text, {addSpecialTokens: false});
  return {
    source: 'local',
    id: named ?? 'smollm2-135m-instruct',
    count: async (text) => (await encode(text)).length,
    encoding: {encode, decode: async (ids) => tokenizer.decode(ids, {skipSpecialTokens: true})},
  };
}

/** Without the weights, where the tokenizer stands alone. */
function filesOf(named: string | null, note: (line: string) => void): Promise<TokenizerFiles> {
  const context = {logger: silentLogger, signal: new AbortController().signal};
  const onProgress = ({fraction, detail}: FileProgress) => {
    if (fraction === 1) note(`Fetched ${detail}`);
  };
  return findTextModel(named, defaultModelSource, hubContext(context, onProgress));
}

function fileAt(path: string): TokenizerFiles {
  return {tokenizerPath: resolve(path), tokenizerConfigPath: null, specialTokensMapPath: null};
}

const tokensSchema = z.looseObject({tokens: z.array(z.number())});
const textSchema = z.looseObject({prompt: z.string()});

/** @returns null when the server has no `/tokenize` and `/detokenize` */
async function serverTokenizer(client: HttpClient, model: string): Promise<PromptTokenizer | null> {
  const encode = async (prompt: string) => {
    const answer = await client.post('/tokenize', {model, prompt, add_special_tokens: false});
    return tokensSchema.parse(jsonOf(answer)).tokens;
  };
  const decode = async (tokens: readonly number[]) =>
    textSchema.parse(jsonOf(await client.post('/detokenize', {model, tokens}))).prompt;
  const works = await encode('a b')
    .then(decode)
    .catch(() => null);
  if (works === null) return null;
  return {
    source: 'server',
    id: `${client.baseUrl}/tokenize`,
    count: async (text) => (await encode(text)).length,
    encoding: {encode, decode},
  };
}

/** About what English text has in most vocabularies. */
export const charsPerToken = 4;

export const estimatingTokenizer: PromptTokenizer = {
  source: 'estimate',
  id: null,
  count: async (text) => Math.ceil(text.length / charsPerToken),
  encoding: null,
};

export interface TokenizerChoice {
  /** As given with `--tokenizer`. */
  named: string | null;
  skips: boolean;
  /** The server is one of ours with the embedded model. */
  isEmbedded: boolean;
  model: string;
}

/**
 * @param note told when another tokenizer is taken than the given one
 * @throws UsageError when there is no tokenizer by the given name
 */
export async function findTokenizer(
  choice: TokenizerChoice,
  client: HttpClient,
  note: (line: string) => void,
): Promise<PromptTokenizer> {
  if (choice.skips) return estimatingTokenizer;
  const {named} = choice;
  if (named !== null) {
    const given = await localTokenizer(named, note).catch((cause) => refuse(named, cause));
    return agreeingTokenizer(given, await serverTokenizer(client, choice.model), note);
  }
  if (choice.isEmbedded) return localTokenizer(null);
  return (await serverTokenizer(client, choice.model)) ?? estimatingTokenizer;
}

/** Some English, and what vocabularies differ in: digits, blanks, other scripts, signs. */
const trialText = [...lines.slice(0, 8), '  3.14159  20261130', 'Grüße, 你好, мир 🙂', 'f(x) {\n\treturn x;\n}'].join(
  '\n',
);

/** Lengths are those of the server: where the given tokenizer counts otherwise, the server is asked. */
export async function agreeingTokenizer(
  given: PromptTokenizer,
  ofServer: PromptTokenizer | null,
  note: (line: string) => void,
): Promise<PromptTokenizer> {
  if (ofServer === null) return given;
  const [here, there] = await Promise.all([given.count(trialText), ofServer.count(trialText)]);
  if (here === there) return given;
  note(
    `The server makes ${there} tokens of a text of which --tokenizer makes ${here}: prompts are measured by the server`,
  );
  return ofServer;
}

function refuse(named: string, cause: Error): never {
  throw new UsageError(`--tokenizer ${named} cannot be used: ${cause.message}`, {
    cause,
    hint: 'give a folder with a tokenizer.json or an id on the Hugging Face Hub, or leave it out: then the server is asked',
  });
}
