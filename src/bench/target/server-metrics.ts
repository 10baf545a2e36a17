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
  spec_decode_num_drafts: number | null;
  spec_decode_draft_tokens: number | null;
  spec_decode_accepted_tokens: number | null;
  /** Accepted tokens by their place in the draft; empty when the server does not tell. */
  spec_decode_accepted_tokens_per_pos: number[];
}

/** What a server that drafts tokens ahead reached over a run. */
export interface Speculation {
  numDrafts: number;
  draftTokens: number;
  acceptedTokens: number;
  /** Percent of the drafted tokens. */
  acceptanceRate: number;
  /** Tokens of a step, the one that the model adds included. */
  acceptanceLength: number;
  /** Shares of the drafts, by place. */
  ratesByPosition: number[];
}

/** Null when nothing was drafted. */
export function speculationOf(metrics: ServerMetrics | null): Speculation | null {
  const draftTokens = metrics?.spec_decode_draft_tokens ?? 0;
  if (metrics === null || draftTokens === 0) return null;
  const numDrafts = metrics.spec_decode_num_drafts ?? 0;
  const acceptedTokens = metrics.spec_decode_accepted_tokens ?? 0;
  const perDraft = (count: number) => (numDrafts === 0 ? 0 : count / numDrafts);
  return {
    numDrafts,
    draftTokens,
    acceptedTokens,
    acceptanceRate: (100 * acceptedTokens) / draftTokens,
    acceptanceLength: numDrafts === 0 ? 0 : 1 + perDraft(acceptedTokens),
    ratesByPosition: metrics.spec_decode_accepted_tokens_per_pos.map(perDraft),
  };
}

const counters = {
  prefix_cache_queries: 'vllm:prefix_cache_queries_total',
  prefix_cache_hits: 'vllm:prefix_cache_hits_total',
  preemptions: 'vllm:num_preemptions_total',
  spec_decode_num_drafts: 'vllm:spec_decode_num_drafts_total',
  spec_decode_draft_tokens: 'vllm:spec_decode_num_draft_tokens_total',
  spec_decode_accepted_tokens: 'vllm:spec_decode_num_accepted_tokens_total',
} as const;
const acceptedPerPosition = 'vllm:spec_decode_num_accepted_tokens_per_pos_total';
const gauges = {max_running: 'vllm:num_requests_running', max_waiting: 'vllm:num_requests_waiting'} as const;

const msBetweenLooks = 1000;

/** Sum over all label sets of each family; where a family has positions, also for each of them, as `name@position`. */
export type Families = ReadonlyMap<string, number>;

export function parseFamilies(text: string): Families {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([A-Za-z_:][\w:]*)(\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const position = /[{,]position="(\d+)"/.exec(labels)?.[1];
    for (const key of position === undefined ? [name] : [name, `${name}@${position}`]) {
      sums.set(key, (sums.get(key) ?? 0) + Number(value));
    }
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
      spec_decode_num_drafts: grown(counters.spec_decode_num_drafts),
      spec_decode_draft_tokens: grown(counters.spec_decode_draft_tokens),
      spec_decode_accepted_tokens: grown(counters.spec_decode_accepted_tokens),
      spec_decode_accepted_tokens_per_pos: countFrom(0, (position) => grown(`${acceptedPerPosition}@${position}`)),
    };
  }
}

/** The values at whole numbers from the first on, up to the first that is missing. */
function countFrom(first: number, valueAt: (place: number) => number | null): number[] {
  const values: number[] = [];
  for (let place = first, value = valueAt(place); value !== null; value = valueAt(++place)) values.push(value);
  return values;
}

async function readFamilies(client: HttpClient): Promise<Families | null> {
  const answer = await client.get('/metrics').catch(() => null);
  return answer?.status === 200 ? parseFamilies(answer.text) : null;
}
