/** Small requests to the server under test beside the measured ones: models, tokens, metrics, a probe. */
import {Agent} from 'undici';
import {ServingError} from '../../core/errors.ts';
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import {connectionHint} from './fault-hints.ts';

export interface HttpAnswer {
  status: number;
  text: string;
  contentType: string;
}

export interface HttpClientOptions {
  baseUrl: string;
  headers: Record<string, string>;
  isInsecure: boolean;
}

const timeoutMs = 10_000;

export class HttpClient {
  readonly baseUrl: string;
  readonly #headers: Record<string, string>;
  readonly #agent: Agent;

  constructor({baseUrl, headers, isInsecure}: HttpClientOptions) {
    this.baseUrl = baseUrl;
    this.#headers = headers;
    this.#agent = new Agent({connect: {rejectUnauthorized: !isInsecure, timeout: timeoutMs}});
  }

  get(path: string): Promise<HttpAnswer> {
    return this.#request(path, 'GET', null);
  }

  post(path: string, body: unknown): Promise<HttpAnswer> {
    return this.#request(path, 'POST', JSON.stringify(body));
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  get hasKey(): boolean {
    return 'authorization' in this.#headers;
  }

  #noAnswer({href, origin, pathname}: URL, cause: Error): ServingError {
    const asked = {url: href, model: '', listedModels: null, hasKey: this.hasKey};
    const lines = [`No answer from ${origin}${pathname}: ${reasonOf(cause)}`, connectionHint(codeOf(cause), asked)];
    return new ServingError(lines.filter((line) => line !== null).join('\n'), {cause});
  }

  /** @throws ServingError when there is no answer at all */
  async #request(path: string, method: 'GET' | 'POST', body: string | null): Promise<HttpAnswer> {
    const url = new URL(this.baseUrl + path);
    try {
      const response = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: {...this.#headers, ...(body !== null && {'content-type': 'application/json'})},
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const contentType = String(response.headers['content-type'] ?? '');
      return {status: response.statusCode, text: await response.body.text(), contentType};
    } catch (cause) {
      throw this.#noAnswer(url, cause as Error);
    }
  }
}

/** Errors whose code is missing or a number. */
const namedErrors = ['TimeoutError', 'HTTPParserError'];

/** For the table of hints. */
function codeOf({name, code}: Error & {code?: unknown}): string {
  return typeof code !== 'string' || namedErrors.includes(name) ? name : code;
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `nothing came within ${timeoutMs / 1000} s`;
  const code = codeOf(error);
  return /^E[A-Z_]+$/.test(code) ? code : error.message;
}

/** The body as JSON of unknown form; null when it is none or the status is not 200. */
export function jsonOf({status, text}: HttpAnswer): unknown {
  return status === 200 ? jsonOrNull(text) : null;
}
