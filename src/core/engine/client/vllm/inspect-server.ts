/**
 * What a vLLM server says of itself, and whether it runs the model that we have the tokenizer of. Every mismatch is
 * refused with its numbers: another vocabulary would not fail, it would answer nonsense.
 */
import * as z from 'zod';
import {ModelError} from '../../../errors.ts';
import {jsonOrNull} from '../../../util/json-or-null.ts';
import type {VllmApi} from './vllm-api.ts';

/** The text side of our model. */
export interface TextFacts {
  /** Tokens of the vocabulary: ids run from 0 to `vocabSize - 1`. */
  vocabSize: number;
  /** Longest sequence that the model was trained for; null = not known. */
  maxPositions: number | null;
  /** With the special tokens that the tokenizer adds. */
  encode: (text: string) => Promise<number[]>;
}

export interface ServerFacts {
  /** Of the model, the first one stands in answers. */
  names: string[];
  maxModelLen: number;
  /** `vLLM 0.33.0`, or what else it is. */
  version: string;
}

const cardsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      parent: z.string().nullish(),
      max_model_len: z.int().nullish(),
      owned_by: z.string().optional(),
    }),
  ),
});
const versionSchema = z.object({version: z.string()});
const tokensSchema = z.object({tokens: z.array(z.int())});
const generatedSchema = z.object({choices: z.array(z.object({token_ids: z.array(z.int())})).min(1)});

/** Words, digits, white space, marks, scripts: tokenizers that agree here are the same for us. */
const sampleText =
  'The quick brown fox, "jumps" over 1234567890 lazy dogs!\n\n\tif (x >= 10) { return y_2; }  naïve façade — Größe; ' +
  'Привет мир; 你好，世界; こんにちは; 안녕하세요; مرحبا بالعالم; नमस्ते; 🙂👩‍👩‍👧';

/** @throws ModelError when it cannot be asked, or serves nothing */
export async function inspectServer(api: VllmApi, signal: AbortSignal): Promise<ServerFacts> {
  const answer = await ask(api, '/v1/models', signal);
  const cards = cardsSchema.safeParse(answer).data?.data.filter(({parent}) => (parent ?? null) === null) ?? [];
  const maxModelLen = cards[0]?.max_model_len ?? null;
  if (maxModelLen === null) throw fault(api, 'names no model with a max_model_len at /v1/models');
  const version = versionSchema.safeParse(await ask(api, '/version', signal)).data?.version ?? 'of unknown version';
  return {names: cards.map(({id}) => id), maxModelLen, version: `vLLM ${version}`};
}

async function ask(api: VllmApi, route: string, signal: AbortSignal): Promise<unknown> {
  const {status, text} = await api.get(route, signal);
  if (status === 401) throw fault(api, 'asks for a key. Give it with --engine-api-key');
  if (status !== 200) throw fault(api, `answered ${route} with status ${status}, so it is no vLLM server`);
  return jsonOrNull(text);
}

/** @throws ModelError when the server serves another context or refuses the context that was asked for */
export function checkContext(api: VllmApi, {maxModelLen}: ServerFacts, maxPositions: number | null): void {
  if (maxPositions === null || maxModelLen <= maxPositions) return;
  throw fault(
    api,
    `serves sequences of ${maxModelLen} tokens, but the model that was given here has ${maxPositions} positions: it is another model`,
  );
}

/**
 * @param model the name that the server has for it
 * @throws ModelError when the vocabulary is another one
 */
export async function checkVocabulary(
  api: VllmApi,
  model: string,
  text: TextFacts,
  signal: AbortSignal,
): Promise<void> {
  const {status, text: body} = await api.post('/tokenize', {model, prompt: sampleText}, signal);
  const theirs = tokensSchema.safeParse(jsonOrNull(body)).data?.tokens;
  if (status !== 200 || theirs === undefined) throw fault(api, `answered /tokenize with status ${status}`);
  const ours = await text.encode(sampleText);
  const place = ours.findIndex((tokenId, index) => tokenId !== theirs[index]);
  if (place === -1 && ours.length === theirs.length) return;
  const at = place === -1 ? ours.length : place;
  throw fault(
    api,
    `splits a text into ${theirs.length} tokens, the tokenizer that was given here into ${ours.length}; token ${at} is ` +
      `${theirs[at] ?? 'missing'} there and ${ours[at] ?? 'missing'} here: it is another vocabulary`,
  );
}

/**
 * Makes one token after the last id that we know, and none after the next one.
 * @throws ModelError when the token route is switched off or the vocabulary has another size
 */
export async function checkTokenRoute(api: VllmApi, model: string, {vocabSize}: TextFacts, signal: AbortSignal) {
  const tryToken = (tokenId: number) =>
    api.post('/inference/v1/generate', {model, token_ids: [tokenId], sampling_params: {max_tokens: 1}}, signal);
  const last = await tryToken(vocabSize - 1);
  if (last.status === 401) throw fault(api, 'asks for a key. Give it with --engine-api-key');
  if (last.status === 403 || last.status === 404) {
    throw fault(api, 'does not take token ids. Start it with --enable-scale-out');
  }
  if (last.status === 400) {
    throw fault(
      api,
      `refuses token ${vocabSize - 1}, but the vocabulary here has ${vocabSize} tokens: ${last.text.slice(0, 300)}`,
    );
  }
  if (last.status !== 200)
    throw fault(api, `answered a first token with status ${last.status}: ${last.text.slice(0, 300)}`);
  if (!generatedSchema.safeParse(jsonOrNull(last.text)).success) {
    throw fault(api, `answered a first token with what is none: ${last.text.slice(0, 300)}`);
  }
  const beyond = await tryToken(vocabSize);
  if (beyond.status === 200) {
    throw fault(
      api,
      `takes token ${vocabSize}, but the vocabulary here has only ${vocabSize} tokens: it is a larger one`,
    );
  }
}

function fault({url}: VllmApi, what: string): ModelError {
  return new ModelError(`${url} ${what}.`);
}
