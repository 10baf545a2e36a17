/** The name that was probably meant. */

const maxDistance = 2;

/** Null when none is near. */
export function nearestName(typed: string, names: readonly string[]): string | null {
  const beginning = names.find((name) => typed.length > 1 && name.startsWith(typed));
  if (beginning !== undefined) return beginning;
  const ranked = names.map((name) => ({name, distance: editDistance(typed, name)}));
  const [best] = ranked.sort((left, right) => left.distance - right.distance);
  return best && best.distance <= maxDistance ? best.name : null;
}

/** Least number of changed, added and left out characters. */
function editDistance(left: string, right: string): number {
  let row = Array.from({length: right.length + 1}, (_, index) => index);
  for (const [index, character] of [...left].entries()) {
    const next = [index + 1];
    for (let column = 0; column < right.length; column++) {
      const substituted = row[column]! + (character === right[column] ? 0 : 1);
      next.push(Math.min(substituted, row[column + 1]! + 1, next[column]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}
