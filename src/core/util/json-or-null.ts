/** JSON of others, who may have sent something else: the bodies of answers, events, texts that are JSON or not. */

/** @returns the value; null for text that is no JSON, too */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
