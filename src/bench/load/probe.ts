/**
 * Small requests at a steady rate beside the load, over connections of their own and outside of its places: what somebody
 * else notices of the load. Their figures are kept apart.
 */

import {latencyMs} from '../metrics.ts';
import {isSuccess, type PlannedRequest, type RequestRecord} from '../request-record.ts';
import {StreamClient, type StreamClientOptions} from '../sse/stream-client.ts';
import {summarize} from '../statistics.ts';
import {runLoad} from './run-load.ts';
import type {Session} from './session.ts';

export interface ProbeOptions {
  /** Requests per second. */
  rate: number;
  /** What is sent again and again; its id and index are counted on. */
  request: PlannedRequest;
  client: StreamClientOptions;
  /** In milliseconds since 1970. */
  startMs: number;
  /** How long probes under way may go on when the load has ended. */
  graceSeconds: number;
}

export interface ProbeFigures {
  completed: number;
  failed: number;
  medianMs: number;
  p99Ms: number;
  maxMs: number;
}

export class Probe {
  readonly #client: StreamClient;
  readonly #stop = new AbortController();
  readonly #records: RequestRecord[] = [];
  readonly #ended: Promise<void>;

  constructor({rate, request, client, startMs, graceSeconds}: ProbeOptions) {
    this.#client = new StreamClient({...client, maxConnections: Number.POSITIVE_INFINITY});
    const load = {
      maxConcurrency: Number.POSITIVE_INFINITY,
      isStrictRate: false,
      durationSeconds: null,
      graceSeconds,
      startMs,
      turnDelayMs: 0,
      keepsReasoning: false,
    };
    const hooks = {
      send: this.#client.send.bind(this.#client),
      onSent() {},
      onRecord: (record: RequestRecord) => void this.#records.push(record),
    };
    this.#ended = runLoad(probes(request, rate), load, hooks, this.#stop.signal);
  }

  /** Sends no more, and waits for what is under way. */
  async finish(): Promise<ProbeFigures> {
    this.#stop.abort();
    await this.#ended;
    await this.#client.close();
    return probeFigures(this.#records);
  }
}

function* probes(request: PlannedRequest, rate: number): Iterable<Session> {
  for (let index = 0; ; index++) {
    yield {offsetSeconds: index / rate, turns: [{...request, index, requestId: `${request.requestId}${index}`}]};
  }
}

export function probeFigures(records: readonly RequestRecord[]): ProbeFigures {
  const good = records.filter(isSuccess);
  const {median, max, percentiles} = summarize(good.map(latencyMs), [99]);
  return {
    completed: good.length,
    failed: records.filter(({failure}) => failure !== null).length,
    medianMs: median,
    p99Ms: percentiles.get(99) ?? 0,
    maxMs: max,
  };
}
