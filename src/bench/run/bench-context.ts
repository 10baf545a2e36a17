/** What stays the same over all runs of one command. */
import type {BenchSettings} from '../bench-settings.ts';
import type {PromptTokenizer} from '../datasets/prompt-tokenizer.ts';
import type {RequestRecord} from '../request-record.ts';
import type {Target} from '../target/find-target.ts';
import type {HttpClient} from '../target/http-client.ts';
import type {BenchTerminal} from './bench-terminal.ts';
import type {UsageDetail} from './request-bodies.ts';

export interface BenchContext {
  settings: BenchSettings;
  target: Target;
  client: HttpClient;
  tokenizer: PromptTokenizer;
  /** Of generated prompts. */
  lengths: {input: number; output: number};
  usageDetail: UsageDetail;
  terminal: BenchTerminal;
  /** Called for every measured request when it has ended. */
  onRecord: (record: RequestRecord) => void;
}
