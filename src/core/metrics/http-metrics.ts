/**
 * Requests of the HTTP layer as metric families, with the names, labels and buckets of the instrumentation that vLLM
 * uses (prometheus-fastapi-instrumentator). Knows no HTTP library.
 */
import type {Family, MetricRegistry} from './metric-registry.ts';

/** One answered request. */
export interface HttpExchange {
  /** The route's path; null for a path without route. */
  handler: string | null;
  method: string;
  status: number;
  requestBytes: number;
  responseBytes: number;
  seconds: number;
}

const UNCOUNTED_HANDLERS = new Set(['/metrics', '/health', '/load', '/ping', '/version', '/server_info']);
const DURATION_BUCKETS = [0.1, 0.5, 1];
const FINE_DURATION_BUCKETS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60,
];

export class HttpMetrics {
  readonly #requests: Family;
  readonly #requestBytes: Family;
  readonly #responseBytes: Family;
  readonly #duration: Family;
  readonly #fineDuration: Family;

  constructor(registry: MetricRegistry) {
    this.#requests = registry.counter({
      name: 'http_requests_total',
      help: 'Answered requests by method, status and handler',
      labelNames: ['method', 'status', 'handler'],
    });
    this.#requestBytes = registry.summary({
      name: 'http_request_size_bytes',
      help: 'Content length of requests by handler',
      labelNames: ['handler'],
    });
    this.#responseBytes = registry.summary({
      name: 'http_response_size_bytes',
      help: 'Content length of answers by handler; 0 when it was not known beforehand',
      labelNames: ['handler'],
    });
    this.#fineDuration = registry.histogram(
      {name: 'http_request_duration_highr_seconds', help: 'Time to the end of the answer', labelNames: []},
      FINE_DURATION_BUCKETS,
    );
    this.#duration = registry.histogram(
      {
        name: 'http_request_duration_seconds',
        help: 'Time to the end of the answer by handler',
        labelNames: ['method', 'handler'],
      },
      DURATION_BUCKETS,
    );
  }

  onExchange({handler: route, method, status, requestBytes, responseBytes, seconds}: HttpExchange): void {
    if (route !== null && UNCOUNTED_HANDLERS.has(route)) return;
    const handler = route ?? 'none';
    this.#requests({method, status: `${Math.floor(status / 100)}xx`, handler}).add(1);
    this.#requestBytes({handler}).add(requestBytes);
    this.#responseBytes({handler}).add(responseBytes);
    this.#fineDuration({}).add(seconds);
    this.#duration({method, handler}).add(seconds);
  }
}
