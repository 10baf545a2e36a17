/**
 * Sends requests to a streaming endpoint and measures them, over undici: one pool of connections, no time limits but our
 * own, no compression. Listens to undici's parser directly: a stream object in between costs more than all the rest.
 * The clock is read before anything is parsed.
 */
import {setMaxListeners} from 'node:events';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {Agent, type Dispatcher} from 'undici';
import {nowMs} from '../../core/util/clock.ts';
import {openRecord, type PlannedRequest, type RequestRecord} from '../request-record.ts';
import {Exchange} from './exchange.ts';
import {ReadCost} from './read-cost.ts';
import type {TimeLimits} from './time-limits.ts';

export interface StreamClientOptions {
  /** Of the endpoint, e.g. `http://127.0.0.1:8000/v1/chat/completions`. */
  url: string;
  headers: Record<string, string>;
  /** Most connections at once; Infinity = as many as there are requests. */
  maxConnections: number;
  /** Accepts any certificate. */
  isInsecure: boolean;
  limits: TimeLimits;
}

const connectTimeoutMs = 30_000;

export class StreamClient {
  readonly #target: Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method'>;
  readonly #headers: Record<string, string>;
  readonly #limits: TimeLimits;
  readonly #agent: Agent;
  readonly readCost = new ReadCost();

  constructor({url, headers, maxConnections, isInsecure, limits}: StreamClientOptions) {
    const {origin, pathname, search} = new URL(url);
    this.#target = {origin, path: pathname + search, method: 'POST'};
    this.#headers = {'content-type': 'application/json', accept: 'text/event-stream', ...headers};
    this.#limits = limits;
    this.#agent = new Agent({
      connections: Number.isFinite(maxConnections) ? maxConnections : null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {rejectUnauthorized: !isInsecure, timeout: connectTimeoutMs},
    });
  }

  /** Never rejects: what goes wrong is in the record. An aborted signal makes it a cancelled one. */
  async send(request: PlannedRequest, plannedMs: number, signal: AbortSignal): Promise<RequestRecord> {
    const body = JSON.stringify(request.body);
    const record = openRecord(request, plannedMs, nowMs());
    const exchange = new Exchange(record, request, {limits: this.#limits, readCost: this.readCost});
    const cancel = () => exchange.cancel();
    // Each request under way listens, which may be thousands.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    else this.#dispatch(exchange, request.requestId, body);
    await exchange.ended;
    signal.removeEventListener('abort', cancel);
    await closingsAreSeen();
    return record;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #dispatch(exchange: Exchange, requestId: string, body: string): void {
    const headers = {...this.#headers, 'x-request-id': requestId};
    this.#agent.dispatch({...this.#target, headers, body}, exchange);
  }
}

/**
 * A server may close a connection right behind an answer without having said so. The next request goes out when that has
 * been read, and not into a connection that is closed already: first come the reads of this turn, then those of the next.
 */
async function closingsAreSeen(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
