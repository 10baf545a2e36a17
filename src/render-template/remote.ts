/** `--url`: the prompt as a running server makes it, asked through its render and detokenize routes. */
import {UsageError} from '../core/errors.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {parseJson} from '../core/util/parse-json.ts';
import {writeJson} from '../core/util/write-json.ts';

export interface RemotePrompt {
  text: string;
  tokenIds: number[];
}

/** The fields of a request that decide its prompt; what is null is not sent. */
const sentFields = [
  'messages',
  'tools',
  'documents',
  'chat_template_kwargs',
  'reasoning_effort',
  'add_generation_prompt',
  'continue_final_message',
] as const satisfies readonly (keyof ChatCompletionRequest)[];

/** @throws UsageError when the server cannot be reached, refuses the request or does not render */
export async function renderRemotely(url: string, request: ChatCompletionRequest): Promise<RemotePrompt> {
  const fields = sentFields.map((name) => [name, request[name]]).filter(([, value]) => value !== null);
  const rendered = await post(url, '/v1/chat/completions/render', Object.fromEntries(fields));
  const tokenIds = rendered.token_ids as number[];
  const {prompt} = await post(url, '/detokenize', {tokens: tokenIds});
  return {tokenIds, text: String(prompt)};
}

async function post(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await send(addressOf(url, path), writeJson(body));
  const answer = readAnswer(await response.text());
  if (response.ok) return answer;
  const {error} = answer as {error?: {message?: string}};
  const isMissing = [403, 404, 501].includes(response.status);
  const hint = isMissing ? 'Is it a server that was started with --enable-scale-out?' : undefined;
  throw new UsageError(`${url} answers ${response.status} to ${path}: ${error?.message ?? 'no reason given'}`, {
    ...(hint && {hint}),
  });
}

function addressOf(url: string, path: string): URL {
  try {
    return new URL(path, url);
  } catch (cause) {
    throw new UsageError(`--url cannot be ${url}\nallowed: an address such as http://127.0.0.1:8000`, {cause});
  }
}

async function send(address: URL, body: string): Promise<Response> {
  const headers: Record<string, string> = {'content-type': 'application/json'};
  if (process.env.VLLM_API_KEY) headers.authorization = `Bearer ${process.env.VLLM_API_KEY}`;
  try {
    return await fetch(address, {method: 'POST', headers, body});
  } catch (cause) {
    throw new UsageError(`${address.origin} cannot be reached: ${reasonOf(cause)}`, {cause});
  }
}

function reasonOf(error: unknown): string {
  const {message, cause} = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}

function readAnswer(text: string): Record<string, unknown> {
  try {
    return parseJson(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
