/**
 * Integers with a suffix, as vLLM's `human_readable_int`: `k m g t` are powers of 1000 and take decimals, `K M G T`
 * are powers of 1024 and take whole numbers only (vllm/engine/arg_utils.py).
 */
import {UsageError} from '../core/errors.ts';

const factors: Readonly<Record<string, number>> = {
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

/**
 * @returns the number in digits; a text without a suffix comes back as it is
 * @throws UsageError for decimals before a binary suffix, and for decimals that leave a fraction
 */
export function expandSuffix(flag: string, text: string): string {
  const match = /^(-?\d+(?:\.\d+)?)([kmgtKMGT])$/.exec(text);
  if (!match) return text;
  const [, digits, suffix] = match as unknown as [string, string, string];
  if (digits.includes('.') && suffix !== suffix.toLowerCase()) throw binaryDecimals(flag, text);
  const value = Math.round(Number(digits) * factors[suffix]! * 1e6) / 1e6;
  if (!Number.isInteger(value)) throw new UsageError(`${flag} ${text} is not a whole number`);
  return String(value);
}

function binaryDecimals(flag: string, text: string): UsageError {
  return new UsageError(`${flag} ${text}: a suffix in capitals (powers of 1024) takes whole numbers only`, {
    hint: `write ${text.toLowerCase()} for powers of 1000`,
  });
}
