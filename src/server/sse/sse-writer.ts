/**
 * Server-sent events onto an HTTP response: `data: <json>` and an empty line each, `data: [DONE]` at the end, comments in
 * times of silence. Writing waits while the client does not read, and never fails because the client is gone.
 */
import {once} from 'node:events';
import type {OutgoingHttpHeaders, ServerResponse} from 'node:http';
import {writeJson} from '../../core/util/write-json.ts';
import {KeepAlive} from './keep-alive.ts';

export interface SseWriterOptions {
  /** Silence after which a comment is sent; 0 = never. */
  keepAliveSeconds: number;
}

export class SseWriter {
  readonly #response: ServerResponse;
  readonly #keepAlive: KeepAlive;

  constructor(response: ServerResponse, {keepAliveSeconds}: SseWriterOptions) {
    this.#response = response;
    this.#keepAlive = new KeepAlive(keepAliveSeconds, () => this.#comment());
  }

  /** Sends status 200 and the headers at once. */
  open(headers: OutgoingHttpHeaders): void {
    this.#response.writeHead(200, {...headers, 'content-type': 'text/event-stream; charset=utf-8'});
    this.#response.flushHeaders();
    this.#keepAlive.touch();
  }

  /** Sends events in one piece. Resolves when the client has room for more, or is gone. */
  async send(events: readonly object[]): Promise<void> {
    await this.sendJson(events.map((event) => writeJson(event)));
  }

  /** Like `send`, for events that are JSON already. */
  async sendJson(events: readonly string[]): Promise<void> {
    if (events.length === 0) return;
    await this.#write(events.map((event) => `data: ${event}\n\n`).join(''));
    this.#keepAlive.touch();
  }

  /** Sends the end mark and ends the response. */
  async end(): Promise<void> {
    this.#keepAlive.stop();
    if (this.#response.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#response.once('close', resolve);
      this.#response.end('data: [DONE]\n\n', resolve);
    });
  }

  #comment(): void {
    if (!this.#response.destroyed && !this.#response.writableNeedDrain) this.#response.write(': keep-alive\n\n');
  }

  async #write(text: string): Promise<void> {
    if (this.#response.destroyed || this.#response.write(text)) return;
    const done = new AbortController();
    const options = {signal: done.signal};
    try {
      await Promise.race([once(this.#response, 'drain', options), once(this.#response, 'close', options)]);
    } finally {
      done.abort();
    }
  }
}
