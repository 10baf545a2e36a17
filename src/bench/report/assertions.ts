/** Limits on single figures of a result, e.g. `p99_ttft_ms<500`: read from the command line, checked after the run. */
import {UsageError} from '../../core/errors.ts';

export interface Assertion {
  text: string;
  key: string;
  operator: Operator;
  limit: number;
}

const operators = {
  '<=': (value: number, limit: number) => value <= limit,
  '>=': (value: number, limit: number) => value >= limit,
  '==': (value: number, limit: number) => value === limit,
  '!=': (value: number, limit: number) => value !== limit,
  '<': (value: number, limit: number) => value < limit,
  '>': (value: number, limit: number) => value > limit,
};
type Operator = keyof typeof operators;

/** @throws UsageError */
export function parseAssertion(text: string): Assertion {
  const match = /^\s*(\w[\w.]*)\s*(<=|>=|==|!=|<|>)\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*$/i.exec(text);
  if (match) return {text, key: match[1], operator: match[2] as Operator, limit: Number(match[3])};
  throw new UsageError(`--assert cannot be ${text}\nallowed: a key of the result, a comparison and a number`, {
    hint: "in quotes, because the shell reads < and >: --assert 'p99_ttft_ms<500'",
  });
}

/** @returns one line for each limit that is not kept; a key that the result lacks keeps none */
export function missedAssertions(
  assertions: readonly Assertion[],
  result: Readonly<Record<string, unknown>>,
): string[] {
  return assertions.flatMap(({text, key, operator, limit}) => {
    const value = result[key];
    if (typeof value !== 'number') return [`${text}: the result has no number ${key}`];
    return operators[operator](value, limit) ? [] : [`${text}: ${key} is ${value}`];
  });
}
