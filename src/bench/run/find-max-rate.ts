/** Looks for the highest request rate that still meets the limits: doubles it until they are missed, then halves the gap. */

const firstRate = 1;
const mostDoublings = 16;
const halvings = 5;

/**
 * @param passes runs at a rate and says whether enough requests were good
 * @returns the highest rate that passed; null when not even the lowest did
 */
export async function findMaxRate(passes: (rate: number) => Promise<boolean>): Promise<number | null> {
  const bounds = await boundsByDoubling(passes);
  if (bounds.failing === null) return bounds.passing;
  let [passing, failing] = [bounds.passing, bounds.failing];
  for (let step = 0; step < halvings; step++) {
    const middle: number = ((passing ?? 0) + failing) / 2;
    if (await passes(middle)) passing = middle;
    else failing = middle;
  }
  return passing;
}

async function boundsByDoubling(
  passes: (rate: number) => Promise<boolean>,
): Promise<{passing: number | null; failing: number | null}> {
  let passing: number | null = null;
  for (let step = 0; step < mostDoublings; step++) {
    const rate = firstRate * 2 ** step;
    if (!(await passes(rate))) return {passing, failing: rate};
    passing = rate;
  }
  return {passing, failing: null};
}
