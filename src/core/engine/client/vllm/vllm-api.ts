/** The few routes of a vLLM server besides the one that generates: small JSON questions with a time limit. */
import type {Dispatcher} from 'undici';
import {ModelError} from '../../../errors.ts';
import {reasonOfConnection} from './vllm-errors.ts';

export interface ApiAnswer {
  status: number;
  text: string;
}

export interface VllmApiOptions {
  dispatcher: Dispatcher;
  /** Without a slash at the end; may have a path. */
  url: string;
  headers: Record<string, string>;
  /** No answer within this time is none. */
  answerMs: number;
}

export class VllmApi {
  readonly url: string;
  readonly #options: VllmApiOptions;
  readonly #base: URL;

  constructor(options: VllmApiOptions) {
    this.url = options.url;
    this.#options = options;
    this.#base = new URL(options.url);
  }

  /** Of a route, below the path of the address. */
  pathOf(route: string): string {
    return `${this.#base.pathname.replace(/\/$/, '')}${route}`;
  }

  /** @throws ModelError when there is no connection or no answer in time; any status is an answer */
  get(route: string, signal?: AbortSignal): Promise<ApiAnswer> {
    return this.#ask({method: 'GET', path: this.pathOf(route)}, signal);
  }

  post(route: string, body: object, signal?: AbortSignal): Promise<ApiAnswer> {
    return this.#ask({method: 'POST', path: this.pathOf(route), body: JSON.stringify(body)}, signal);
  }

  async #ask(
    what: Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'body'>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ApiAnswer> {
    const {dispatcher, headers, answerMs} = this.#options;
    try {
      const {statusCode: status, body} = await dispatcher.request({
        ...what,
        origin: this.#base.origin,
        headers,
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      });
      return {status, text: await body.text()};
    } catch (cause) {
      throw new ModelError(`${this.url} cannot be reached: ${reasonOfConnection(cause as Error)}`, {cause});
    }
  }
}
