/** Reads streams to their end in tests. */

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** What the stream gave before it ended or failed, and the error. */
export async function collectUntilError<T>(stream: AsyncIterable<T>): Promise<{items: T[]; error: unknown}> {
  const items: T[] = [];
  try {
    for await (const item of stream) items.push(item);
    return {items, error: null};
  } catch (error) {
    return {items, error};
  }
}
