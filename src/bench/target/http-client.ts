/** Small requests to the server under test beside the measured ones: models, tokens, metrics, a probe. */
import {Agent} from 'undici';
import {ServingError} from '../../core/errors.ts';

export interface HttpAnswer {
  status: number;
  text: string;
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
      return {status: response.statusCode, text: await response.body.text()};
    } catch (cause) {
      throw new ServingError(`No answer from ${url.origin}${url.pathname}: ${reasonOf(cause as Error)}`, {cause});
    }
  }
}

function reasonOf(error: Error & {code?: unknown}): string {
  if (error.name === 'TimeoutError') return `nothing came within ${timeoutMs / 1000} s`;
  return typeof error.code === 'string' && error.code.startsWith('E') ? error.code : error.message;
}

/** The body as JSON of unknown form; null when it is none or the status is not 200. */
export function jsonOf({status, text}: HttpAnswer): unknown {
  if (status !== 200) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
