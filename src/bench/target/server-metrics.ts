/**
 * What the server says about a run in Prometheus' text format: differences of counters over the run, and the highest
 * values of gauges, looked at every second. Servers without vLLM's families give nothing.
 */
import type {HttpClient} from './http-client.ts';

export interface ServerMetrics {
  prefix_cache_queries: number | null;
  prefix_cache_hits: number | null;
  prefix_cache_hit_rate: number | null;
  preemptions: number | null;
  max_running: number | null;
  max_waiting: number | null;
  spec_decode_draft_tokens: number | null;
  spec_decode_accepted_tokens: number | null;
}

const counters = {
  prefix_cache_queries: 'vllm:prefix_cache_queries_total',
  prefix_cache_hits: 'vllm:prefix_cache_hits_total',
  preemptions: 'vllm:num_preemptions_total',
  spec_decode_draft_tokens: 'vllm:spec_decode_num_draft_tokens_total',
  spec_decode_accepted_tokens: 'vllm:spec_decode_num_accepted_tokens_total',
} as const;
const gauges = {max_running: 'vllm:num_requests_running', max_waiting: 'vllm:num_requests_waiting'} as const;

const msBetweenLooks = 1000;

/** Sum over all label sets of each family. */
export type Families = ReadonlyMap<string, number>;

export function parseFamilies(text: string): Families {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^([A-Za-z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line);
    if (!match) continue;
    sums.set(match[1], (sums.get(match[1]) ?? 0) + Number(match[2]));
  }
  return sums;
}

export class ServerMetricsWatch {
  readonly #client: HttpClient;
  readonly #before: Families;
  readonly #maxima = {max_running: 0, max_waiting: 0};
  readonly #timer: NodeJS.Timeout;

  /** Null when the server has no such metrics. */
  static async start(client: HttpClient): Promise<ServerMetricsWatch | null> {
    const before = await readFamilies(client);
    const isKnown = [...(before?.keys() ?? [])].some((name) => name.startsWith('vllm:'));
    return before !== null && isKnown ? new ServerMetricsWatch(client, before) : null;
  }

  private constructor(client: HttpClient, before: Families) {
    this.#client = client;
    this.#before = before;
    this.#timer = setInterval(() => void this.#look(), msBetweenLooks);
  }

  async finish(): Promise<ServerMetrics | null> {
    clearInterval(this.#timer);
    const after = await this.#look();
    return after === null ? null : this.#differences(after);
  }

  async #look(): Promise<Families | null> {
    const families = await readFamilies(this.#client);
    for (const key of ['max_running', 'max_waiting'] as const) {
      this.#maxima[key] = Math.max(this.#maxima[key], families?.get(gauges[key]) ?? 0);
    }
    return families;
  }

  #differences(after: Families): ServerMetrics {
    const grown = (name: string) => {
      const value = after.get(name);
      return value === undefined ? null : value - (this.#before.get(name) ?? 0);
    };
    const queries = grown(counters.prefix_cache_queries);
    const hits = grown(counters.prefix_cache_hits);
    return {
      prefix_cache_queries: queries,
      prefix_cache_hits: hits,
      prefix_cache_hit_rate: queries === null || hits === null || queries === 0 ? null : hits / queries,
      preemptions: grown(counters.preemptions),
      ...this.#maxima,
      spec_decode_draft_tokens: grown(counters.spec_decode_draft_tokens),
      spec_decode_accepted_tokens: grown(counters.spec_decode_accepted_tokens),
    };
  }
}

async function readFamilies(client: HttpClient): Promise<Families | null> {
  const answer = await client.get('/metrics').catch(() => null);
  return answer?.status === 200 ? parseFamilies(answer.text) : null;
}
