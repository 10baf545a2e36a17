/** Checks of things that must not happen. A failure is a bug of ours, never a user's mistake. */

/**
 * @param invariant the rule in words, e.g. "free + cached + used rows = all rows"
 * @throws Error when the condition is false
 */
export function assertInvariant(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${invariant}`);
}

/** Ends a `switch` over a closed union: a missing case fails to compile, an unknown value at run time throws. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
