/**
 * Server-sent events onto an HTTP response: `data: <json>` and an empty line each, `data: [DONE]` at the end, comments in
 * times of silence. Writing waits while the client does not read, and never fails because the client is gone.
 */
import {once} from 'node:events';
import type {OutgoingHttpHeaders, ServerResponse} from 'node:http';
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

  /** Sends events, given as JSON, in one piece. There is something to wait for while the client has no room: it resolves when the client has room for more, or is gone. */
  send(events: readonly string[]): Promise<void> | undefined {
    if (events.length === 0 || this.#response.destroyed) return;
    // Nothing to wait for is the rule, and this is called for every token: no promise is made then.
    const hasRoom = this.#response.write(events.length === 1 ? eventText(events[0]!) : events.map(eventText).join(''));
    this.#keepAlive.touch();
    return hasRoom ? undefined : this.#roomOrEnd();
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

const eventText = (json: string) => `data: ${json}\n\n`;
