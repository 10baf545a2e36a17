/** `repetition_detection`: whether an output goes round in circles (vllm/v1/core/sched/utils.py, check_stop). */
import type {RepetitionDetection} from './sampling-params.ts';

/** Whether the last tokens are `minCount` times the same pattern of one of the sizes. */
export function endsInRepetition(
  tokenIds: readonly number[],
  {minPatternSize, maxPatternSize, minCount}: RepetitionDetection,
): boolean {
  const longest = Math.min(maxPatternSize, Math.floor(tokenIds.length / minCount));
  for (let size = minPatternSize; size <= longest; size++) {
    if (hasPeriod(tokenIds, size, size * minCount)) return true;
  }
  return false;
}

/** Whether each of the last `length` tokens equals the one `period` before it, as far as that is among them. */
function hasPeriod(tokenIds: readonly number[], period: number, length: number): boolean {
  for (let index = tokenIds.length - 1; index >= tokenIds.length - length + period; index--) {
    if (tokenIds[index] !== tokenIds[index - period]) return false;
  }
  return true;
}
