/** Time with fractions of a millisecond that processes of one machine agree on, unlike `performance.now()`. */

/** Milliseconds since 1970. Never goes back within a process. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
