/**
 * What became of drafts, as counters with the names of vLLM (vllm/v1/spec_decode/metrics.py). They are there only when the
 * engine drafts.
 */
import type {Cell, MetricRegistry} from './metric-registry.ts';

/** What these metrics need of a step of the engine. */
export interface DraftMeasurements {
  numDrafts: number;
  numDraftTokens: number;
  /** By place in the draft, from 0. */
  acceptedByPosition: readonly number[];
}

interface DraftCells {
  drafts: Cell;
  draftTokens: Cell;
  acceptedTokens: Cell;
  acceptedByPosition: Cell[];
}

export class DraftMetrics {
  readonly #engines: DraftCells[];

  /** @param engines labels of each engine */
  constructor(registry: MetricRegistry, engines: readonly Record<string, string>[], maxDraftTokens: number) {
    const labelNames = Object.keys(engines[0]!);
    const counter = (name: string, help: string, ...further: string[]) =>
      registry.counter({name: `vllm:spec_decode_${name}_total`, help, labelNames: [...labelNames, ...further]});
    const drafts = counter('num_drafts', 'Drafts that were checked');
    const draftTokens = counter('num_draft_tokens', 'Tokens of drafts');
    const acceptedTokens = counter('num_accepted_tokens', 'Tokens of drafts that were right');
    const byPosition = counter('num_accepted_tokens_per_pos', 'The same by their place in the draft', 'position');
    this.#engines = engines.map((labels) => ({
      drafts: drafts(labels),
      draftTokens: draftTokens(labels),
      acceptedTokens: acceptedTokens(labels),
      acceptedByPosition: Array.from({length: maxDraftTokens}, (_, position) =>
        byPosition({...labels, position: String(position)}),
      ),
    }));
  }

  onStep({numDrafts, numDraftTokens, acceptedByPosition}: DraftMeasurements, engineIndex: number): void {
    const engine = this.#engines[engineIndex]!;
    engine.drafts.add(numDrafts);
    engine.draftTokens.add(numDraftTokens);
    engine.acceptedTokens.add(acceptedByPosition.reduce((sum, count) => sum + count, 0));
    engine.acceptedByPosition.forEach((cell, position) => {
      cell.add(acceptedByPosition[position] ?? 0);
    });
  }
}
