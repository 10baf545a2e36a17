/** The time on the wire. */
export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
