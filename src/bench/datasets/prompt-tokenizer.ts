/**
 * Counts and cuts prompts in tokens: with the files of a tokenizer, or by asking the server that is measured, or, where
 * neither is there, by an estimate that says so.
 */
import {resolve} from 'node:path';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {resolveModel} from '../../core/model/resolve-model.ts';
import {loadTokenizer} from '../../core/model/tokenizer.ts';
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

/** @param folder with a `tokenizer.json`; null = that of the embedded model */
export async function localTokenizer(folder: string | null): Promise<PromptTokenizer> {
  const tokenizer = await loadTokenizer(folder === null ? await resolveModel(null) : filesIn(folder));
  const encode = (text: string) => tokenizer.encode(text, {addSpecialTokens: false});
  return {
    source: 'local',
    id: folder ?? 'smollm2-135m-instruct',
    count: async (text) => (await encode(text)).length,
    encoding: {encode, decode: async (ids) => tokenizer.decode(ids, {skipSpecialTokens: true})},
  };
}

function filesIn(folder: string) {
  const tokenizerPath = folder.endsWith('.json') ? resolve(folder) : resolve(folder, 'tokenizer.json');
  return {tokenizerPath, tokenizerConfigPath: null, specialTokensMapPath: null};
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
  folder: string | null;
  skips: boolean;
  /** The server is one of ours with the embedded model. */
  isEmbedded: boolean;
  model: string;
}

/**
 * @param note told when another tokenizer is taken than the given one
 * @throws UsageError when the given folder has no tokenizer
 */
export async function findTokenizer(
  choice: TokenizerChoice,
  client: HttpClient,
  note: (line: string) => void,
): Promise<PromptTokenizer> {
  if (choice.skips) return estimatingTokenizer;
  if (choice.folder !== null) {
    const given = await localTokenizer(choice.folder).catch((cause) => refuse(choice.folder, cause));
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

function refuse(folder: string | null, cause: Error): never {
  throw new UsageError(`--tokenizer ${folder} cannot be used: ${cause.message}`, {
    cause,
    hint: 'give a folder that holds a tokenizer.json, or leave it out: then the server is asked',
  });
}
