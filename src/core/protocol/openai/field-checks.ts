/**
 * Fields that raise an error of their own inside the type check, which is then reported alone
 * (vllm/entrypoints/openai/chat_completion/protocol.py and vllm/sampling_params.py).
 */
import {ValidationError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {laxInt} from './lax-types.ts';

type Body = Record<string, unknown>;

function checkThinkingBudget({thinking_token_budget: budget}: Body): void {
  if (budget === undefined || budget === null) return;
  const isInteger = typeof budget === 'bigint' || (typeof budget === 'number' && Number.isInteger(budget));
  if (isInteger && (budget as number) >= -1) return;
  throw new ValidationError('`thinking_token_budget` must be a non-negative integer or -1 for unlimited.', {
    param: 'thinking_token_budget',
    value: budget,
  });
}

const sizeSchema = laxInt();

/** A number of the pattern settings, absent = 0; null for what the type check will refuse. */
function sizeOf(value: unknown): number | null {
  return value === undefined ? 0 : (sizeSchema.safeParse(value).data ?? null);
}

function checkRepetitionDetection({repetition_detection: detection}: Body): void {
  if (!isPlainObject(detection)) return;
  const [max, min, count] = [detection.max_pattern_size, detection.min_pattern_size, detection.min_count].map(sizeOf);
  if (max === null || min === null || count === null) return;
  if (max < 0 || min < 0 || min > max) {
    throw new ValidationError(
      'max_pattern_size, min_pattern_size must be >=0, with min_pattern_size <= max_pattern_size. Set both to 0 to disable repetitive pattern detection.',
    );
  }
  if (max > 0 && count < 2) {
    throw new ValidationError(
      'min_count must be >= 2 to detect repetitive patterns in engine output. If you do not wish to detect repetitive patterns, set max_pattern_size to 0.',
    );
  }
}

/** Only the key `prompt_token_ids` has a meaning here. */
function checkTransferredPrompt({kv_transfer_params: params}: Body): void {
  if (!isPlainObject(params) || (params.prompt_token_ids ?? null) === null) return;
  const ids = params.prompt_token_ids;
  if (Array.isArray(ids) && ids.length > 0 && ids.every((id) => Number.isInteger(id) && id >= 0)) return;
  throw new ValidationError(
    "`kv_transfer_params['prompt_token_ids']` must be a non-empty list of non-negative integers.",
    {param: 'kv_transfer_params.prompt_token_ids'},
  );
}

/** @throws ValidationError for the first fault */
export function checkSelfCheckedFields(body: unknown): void {
  if (!isPlainObject(body)) return;
  checkThinkingBudget(body);
  checkRepetitionDetection(body);
}

/** The prompt as token ids in `kv_transfer_params`, checked when the prompt is made. @throws ValidationError */
export function checkTransferParams(params: Record<string, unknown> | null): void {
  checkTransferredPrompt({kv_transfer_params: params});
}
