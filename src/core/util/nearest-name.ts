/** Finds the name a person may have meant: smallest number of edits, or a name that begins with what was typed. */

/** @returns the nearest candidate, or null when none is near */
export function nearestName(typed: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = candidate.startsWith(typed) ? 1 : editDistance(typed, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(left: string, right: string): number {
  const rows = [Array.from({length: right.length + 1}, (_, column) => column)];
  for (let row = 1; row <= left.length; row++) rows.push(nextRow(rows, left, right, row));
  return rows[left.length]![right.length]!;
}

function nextRow(rows: number[][], left: string, right: string, row: number): number[] {
  const above = rows[row - 1]!;
  const current = [row];
  for (let column = 1; column <= right.length; column++) {
    const replaced = above[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
    const swapped = isSwap(left, right, row, column) ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY;
    current.push(Math.min(above[column]! + 1, current[column - 1]! + 1, replaced, swapped));
  }
  return current;
}

function isSwap(left: string, right: string, row: number, column: number): boolean {
  return row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
}
