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

/** The last two keep proxies from storing a stream and from holding it back (nginx does by default). */
const streamHeaders: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

export class SseWriter {
  readonly #response: ServerResponse;
  readonly #keepAlive: KeepAlive;

  constructor(response: ServerResponse, {keepAliveSeconds}: SseWriterOptions) {
    this.#response = response;
    this.#keepAlive = new KeepAlive(keepAliveSeconds, () => this.#comment());
  }

  /** Sends status 200 and the headers at once. */
  open(headers: OutgoingHttpHeaders): void {
    this.#response.writeHead(200, {...headers, ...streamHeaders});
    this.#response.flushHeaders();
    this.#keepAlive.touch();
  }

  /** Sends events in one piece. There is something to wait for while the client has no room: it resolves when the client has room for more, or is gone. */
  send(events: readonly object[]): Promise<void> | undefined {
    return this.#write(events.map(eventText));
  }

  /** Like `send`, for events that are JSON already. */
  sendJson(events: readonly string[]): Promise<void> | undefined {
    return this.#write(events.map(jsonEventText));
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

  /** Nothing to wait for is the rule, and this is called for every token: no promise is made then. */
  #write(texts: readonly string[]): Promise<void> | undefined {
    if (texts.length === 0 || this.#response.destroyed) return;
    const hasRoom = this.#response.write(texts.length === 1 ? texts[0]! : texts.join(''));
    this.#keepAlive.touch();
    return hasRoom ? undefined : this.#roomOrEnd();
  }

  async #roomOrEnd(): Promise<void> {
    const done = new AbortController();
    const options = {signal: done.signal};
    try {
      await Promise.race([once(this.#response, 'drain', options), once(this.#response, 'close', options)]);
    } finally {
      done.abort();
    }
  }
}

const eventText = (event: object) => jsonEventText(writeJson(event));
const jsonEventText = (json: string) => `data: ${json}\n\n`;
