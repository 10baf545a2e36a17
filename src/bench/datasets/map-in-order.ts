/** Maps with a few calls at a time; results keep the order of the items. */

const callsAtATime = 8;

export async function mapInOrder<T, R>(items: readonly T[], map: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const entries = items.entries();
  const work = async () => {
    for (const [index, item] of entries) results[index] = await map(item, index);
  };
  await Promise.all(Array.from({length: callsAtATime}, work));
  return results;
}
