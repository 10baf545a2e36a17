/** What a run leaves, before it becomes a table, JSON or a page. */
import type {BenchSettings, LoadPoint} from '../bench-settings.ts';
import type {ProbeFigures} from '../load/probe.ts';
import type {RunFigures} from '../metrics.ts';
import type {ErrorType, RequestRecord} from '../request-record.ts';
import type {ClientHealth} from '../run/client-health.ts';
import type {Target} from '../target/find-target.ts';
import type {ServerMetrics} from '../target/server-metrics.ts';

export interface RunOutcome {
  settings: BenchSettings;
  point: LoadPoint;
  seed: number;
  target: Target;
  /** Name of the tokenizer for prompts; null when lengths are estimates. */
  tokenizerId: string | null;
  startedAt: Date;
  numPrompts: number;
  /** In order of the plan. */
  records: RequestRecord[];
  figures: RunFigures;
  goodput: {good: number; requestGoodput: number; attainment: number} | null;
  failures: FailureGroup[];
  health: ClientHealth;
  serverMetrics: ServerMetrics | null;
  /** Null without `--probe-request-rate`. */
  probe: ProbeFigures | null;
  isInterrupted: boolean;
  isValid: boolean;
  achievedRate: number;
  /** Lines for a person: what the figures do not say by themselves. */
  warnings: string[];
}

export interface FailureGroup {
  type: ErrorType;
  count: number;
  examples: string[];
  /** What to try; null when the messages say it all. */
  hint: string | null;
  /** Seconds from the start of the run. */
  firstAtSeconds: number;
}
