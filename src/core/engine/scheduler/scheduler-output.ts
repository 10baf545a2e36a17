/** The plan of one step: which sequence computes which of its tokens, and its form for the model runner. */
import type {ModelBatch, RowChunk} from '../model-runner/model-runner.ts';
import type {Sequence} from '../sequence.ts';

/** Tokens `[start, start + numTokens)` of a sequence, drafts included. */
export interface ScheduledChunk {
  sequence: Sequence;
  start: number;
  numTokens: number;
  /** The chunk reaches the sequence's last token: the next one is sampled from its logits. */
  isLast: boolean;
  /** Of how many of its last tokens the logits are wanted. */
  numLogits: number;
  /** The last of its tokens, when they are not in the sequence but guesses of what comes next. */
  draftTokenIds: readonly number[];
}

export interface SchedulerOutput {
  /** One token each, in ascending order of neighbouring rows. */
  decodes: ScheduledChunk[];
  prefills: ScheduledChunk[];
  numPreemptions: number;
  /** Prompt tokens of the sequences that were let in, and how many of them were found in the prefix cache. */
  prefixQueryTokens: number;
  prefixHitTokens: number;
}

export function isEmpty({decodes, prefills}: SchedulerOutput): boolean {
  return decodes.length === 0 && prefills.length === 0;
}

export function toModelBatch({decodes, prefills}: SchedulerOutput): ModelBatch {
  return {decodes: decodes.map(toRowChunk), prefills: prefills.map(toRowChunk)};
}

function toRowChunk({sequence, start, numTokens, numLogits, draftTokenIds}: ScheduledChunk): RowChunk {
  const tokenIds = sequence.tokenIds.slice(start, start + numTokens);
  return {row: sequence.row, start, tokenIds: [...tokenIds, ...draftTokenIds], numLogits};
}
