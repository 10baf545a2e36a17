/** What differs between two texts, line by line, in the unified form that everybody knows. */

export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Equal lines shown around a difference. */
const contextLines = 3;
/** Texts with more differing lines than this are shown as one removal and one addition. */
const maxComparedLines = 4000;

/** @returns all lines of both texts, in an order that turns the first into the second */
export function diffLines(before: string, after: string): DiffLine[] {
  const [one, other] = [before.split('\n'), after.split('\n')];
  const head = commonLength(one, other, (lines, index) => lines[index]);
  const tail = commonLength(one.slice(head), other.slice(head), (lines, index) => lines.at(-1 - index));
  const middle = diffMiddle(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  const same = (text: string): DiffLine => ({kind: 'same', text});
  return [...one.slice(0, head).map(same), ...middle, ...one.slice(one.length - tail).map(same)];
}

type PickLine = (lines: readonly string[], index: number) => string | undefined;

function commonLength(one: readonly string[], other: readonly string[], pick: PickLine): number {
  const limit = Math.min(one.length, other.length);
  let length = 0;
  while (length < limit && pick(one, length) === pick(other, length)) length++;
  return length;
}

/** By the longest common subsequence. */
function diffMiddle(one: readonly string[], other: readonly string[]): DiffLine[] {
  if (one.length + other.length > maxComparedLines) return [...marked('removed', one), ...marked('added', other)];
  const lengths = commonLengths(one, other);
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < one.length && column < other.length) {
    if (one[row] === other[column]) {
      lines.push({kind: 'same', text: one[row]!});
      row++;
      column++;
    } else if (lengths[row + 1]![column]! >= lengths[row]![column + 1]!) {
      lines.push({kind: 'removed', text: one[row++]!});
    } else {
      lines.push({kind: 'added', text: other[column++]!});
    }
  }
  return [...lines, ...marked('removed', one.slice(row)), ...marked('added', other.slice(column))];
}

function marked(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({kind, text}));
}

/** `[row][column]` = how many lines the rests from there have in common, in order. */
function commonLengths(one: readonly string[], other: readonly string[]): Uint16Array[] {
  const lengths = Array.from({length: one.length + 1}, () => new Uint16Array(other.length + 1));
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      const isSame = one[row] === other[column];
      const longest = Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!);
      lengths[row]![column] = isSame ? lengths[row + 1]![column + 1]! + 1 : longest;
    }
  }
  return lengths;
}

/** Only the surroundings of differences; `…` stands for what is left out. */
export function withContext(lines: readonly DiffLine[]): (DiffLine | '…')[] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({kind}) => kind !== 'same');
  return lines.flatMap((line, index): (DiffLine | '…')[] => {
    if (isNear(index)) return [line];
    return index === 0 || isNear(index - 1) ? ['…'] : [];
  });
}
