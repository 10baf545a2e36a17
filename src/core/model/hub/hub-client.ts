/**
 * Requests to the Hub: the commit and the files of a revision, and the bytes of a file. Every answer that is none becomes
 * a ModelError that says what to do; what may be better in a moment is told apart, so that it can be tried again.
 */
import {HubApiError, listFiles, modelInfo} from '@huggingface/hub';
import {EnvHttpProxyAgent, fetch as undiciFetch} from 'undici';
import {ModelError} from '../../errors.ts';
import type {RepoFile} from './choose-files.ts';
import type {HubSettings} from './hub-settings.ts';

export interface HubFile extends RepoFile {
  /** Name of its content: SHA-256 of large files, git's hash of small ones. */
  hash: string;
}

/** The Hub could not be reached, or was not ready: a cached copy may do, or another try. */
export class HubUnreachableError extends ModelError {
  /** As the Hub wishes; null = it says nothing. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: {cause?: unknown; retryAfterMs?: number | null} = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Bytes of a file from `start` on. */
export interface FileBody {
  /** 0 when the Hub did not go on where it was asked to. */
  start: number;
  chunks: AsyncIterable<Uint8Array>;
}

const commitPattern = /^[0-9a-f]{40,64}$/;

export class HubClient {
  readonly #settings: HubSettings;
  readonly #agent: EnvHttpProxyAgent;

  constructor(settings: HubSettings) {
    this.#settings = settings;
    const {timeoutMs} = settings;
    this.#agent = new EnvHttpProxyAgent({
      connect: {timeout: timeoutMs},
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  /** The commit that a branch or tag stands for. */
  async commitOf(repo: string, revision: string, signal: AbortSignal): Promise<string> {
    const {sha} = await this.#ask(repo, revision, () =>
      modelInfo({name: repo, revision, additionalFields: ['sha'], ...this.#hubParams(repo, revision, signal)}),
    );
    if (typeof sha === 'string' && commitPattern.test(sha)) return sha;
    throw new ModelError(`${this.#settings.endpoint} names no commit for ${repo} at ${revision}.`);
  }

  async listFiles(repo: string, commit: string, signal: AbortSignal): Promise<HubFile[]> {
    return this.#ask(repo, commit, async () => {
      const files: HubFile[] = [];
      const entries = listFiles({
        repo: {type: 'model', name: repo},
        revision: commit,
        recursive: true,
        ...this.#hubParams(repo, commit, signal),
      });
      for await (const {type, path, size, oid, lfs} of entries) {
        if (type === 'file') files.push({path, numBytes: lfs?.size ?? size, hash: lfs?.oid ?? oid ?? ''});
      }
      return files;
    });
  }

  /** @param start first byte that is wanted */
  async openFile(repo: string, commit: string, path: string, start: number, signal: AbortSignal): Promise<FileBody> {
    const url = `${this.#settings.endpoint}/${repo}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`;
    return this.#ask(repo, commit, async () => {
      const response = await this.#fetch(
        url,
        {...this.#headers(), 'accept-encoding': 'identity', ...(start > 0 && {range: `bytes=${start}-`})},
        signal,
      );
      if (!response.ok) await this.#refuse(response, repo, commit);
      if (response.body === null) throw new HubUnreachableError(`${url} answered nothing.`);
      const [, from] = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '') ?? [];
      const isPart = response.status === 206 && Number(from) === start;
      return {start: isPart ? start : 0, chunks: response.body as AsyncIterable<Uint8Array>};
    });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #headers(): Record<string, string> {
    const {token} = this.#settings;
    return {'user-agent': 'parlance', ...(token !== null && {authorization: `Bearer ${token}`})};
  }

  #fetch(url: string, headers: Record<string, string>, signal: AbortSignal) {
    return undiciFetch(url, {headers, signal, dispatcher: this.#agent, redirect: 'follow'});
  }

  /** What the package's functions need; answers that are none are told here, because it drops their headers. */
  #hubParams(repo: string, revision: string, signal: AbortSignal) {
    const checkedFetch = async (input: unknown, init?: RequestInit) => {
      const headers = Object.fromEntries(new Headers(init?.headers).entries());
      const response = await this.#fetch(String(input), {...headers, ...this.#headers()}, signal);
      if (!response.ok) await this.#refuse(response, repo, revision);
      return response;
    };
    // undici's types and those of Node's own copy of it differ in name only.
    return {hubUrl: this.#settings.endpoint, fetch: checkedFetch as unknown as typeof fetch};
  }

  /** Turns what the network throws into an error that names the Hub. */
  async #ask<T>(repo: string, revision: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ModelError || isAbort(error)) throw error;
      if (error instanceof HubApiError)
        throw new ModelError(`${repo} at ${revision}: ${error.message}`, {cause: error});
      throw unreachable(this.#settings.endpoint, error);
    }
  }

  async #refuse(response: RefusedResponse, repo: string, revision: string): Promise<never> {
    const text = await response.text().catch(() => '');
    throw refusal(response, {repo, revision, text, ...this.#settings});
  }
}

interface RefusedResponse {
  status: number;
  headers: {get(name: string): string | null};
  text(): Promise<string>;
}

interface RefusalContext {
  repo: string;
  revision: string;
  text: string;
  endpoint: string;
  token: string | null;
}

function refusal({status, headers}: Pick<RefusedResponse, 'status' | 'headers'>, context: RefusalContext): ModelError {
  const {repo, revision, endpoint, token} = context;
  const code = headers.get('x-error-code');
  const said = messageOf(context.text);
  const login = 'Set HF_TOKEN, or give --hf-token, with a token from the settings of your account';
  if (code === 'GatedRepo') {
    const ask = `Ask for access on ${endpoint}/${repo}`;
    return new ModelError(
      `${repo} is open only to people who have agreed to its terms${said}. ${ask}${token === null ? `, then: ${login}` : ' with the account of your token'}.`,
    );
  }
  if (code === 'RevisionNotFound') return new ModelError(`${repo} has no branch, tag or commit "${revision}"${said}.`);
  if (code === 'EntryNotFound') return new ModelError(`${repo} has no such file at ${revision}${said}.`);
  if (status === 401 || status === 403 || status === 404) {
    // The Hub hides private models from strangers, so "not found" may mean "not allowed".
    const why = token === null ? `If it is private: ${login}` : 'Or the token does not allow to read it';
    return new ModelError(`There is no model ${repo} on ${endpoint} (status ${status}${said}). ${why}.`);
  }
  if (status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
    return new HubUnreachableError(`${endpoint} cannot answer now (status ${status}${said}). Try again later.`, {
      retryAfterMs,
    });
  }
  return new ModelError(`${endpoint} refuses ${repo} at ${revision}: status ${status}${said}.`);
}

/** What the body says, as `: text`; nothing for pages and empty bodies. */
function messageOf(text: string): string {
  try {
    const {error, message} = JSON.parse(text) as {error?: unknown; message?: unknown};
    const said = [error, message].find((part) => typeof part === 'string');
    return said ? `: ${String(said).slice(0, 300).replace(/\.$/, '')}` : '';
  } catch {
    return '';
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function unreachable(endpoint: string, error: unknown): HubUnreachableError {
  const {message, cause} = error as Error;
  const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : message;
  const proxy = process.env.HTTPS_PROXY ?? process.env.https_proxy ?? process.env.HTTP_PROXY ?? process.env.http_proxy;
  const advice = proxy
    ? 'Requests go through the proxy of HTTPS_PROXY; NO_PROXY names hosts that need none'
    : 'Behind a proxy set HTTPS_PROXY, for a mirror HF_ENDPOINT; without a network set HF_HUB_OFFLINE=1';
  return new HubUnreachableError(`${endpoint} cannot be reached: ${reason}. ${advice}.`, {cause: error});
}
