/**
 * Integers beyond 2^53 are rounded when a request is read. An error that quotes one tells it as the client wrote it, as
 * the reference does, whose integers have no end.
 */

const longInteger = /-?\d{16,}/g;
/** Only so much of a body is searched. */
const maxSearchedBytes = 1024 * 1024;

/** @param body the bytes of the request; anything else changes nothing */
export function withWrittenIntegers(message: string, body: unknown): string {
  if (message.search(longInteger) === -1 || !Buffer.isBuffer(body)) return message;
  const written = writtenByRounded(body.subarray(0, maxSearchedBytes).toString('latin1'));
  return message.replace(longInteger, (digits) => written.get(digits) ?? digits);
}

function writtenByRounded(body: string): Map<string, string> {
  const written = new Map<string, string>();
  for (const [digits] of body.matchAll(longInteger)) {
    const rounded = Number(digits);
    if (!Number.isFinite(rounded) || Number.isSafeInteger(rounded)) continue;
    for (const form of [String(rounded), BigInt(rounded).toString()]) written.set(form, digits);
  }
  return written;
}
