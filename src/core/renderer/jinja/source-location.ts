/** Line and column of a place in a template, and the lines around it with a caret below the place. */

export interface SourceLocation {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

export function locate(source: string, offset: number): SourceLocation {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {line: before.split('\n').length, column: offset - lineStart + 1};
}

/** Lines shown before the one with the mistake. */
const contextLines = 2;
/** Templates may be one single long line: only this much of it is shown on either side of the place. */
const contextColumns = 60;

/** The place as text, several lines, without a line feed at the end. */
export function codeFrame(source: string, {line, column}: SourceLocation): string {
  const first = Math.max(1, line - contextLines);
  const shown = source.split('\n').slice(first - 1, line);
  const width = String(line).length;
  const from = Math.max(0, column - 1 - contextColumns);
  const numbered = shown.map((text, index) => {
    const excerpt = text.slice(from, column - 1 + contextColumns).replaceAll('\t', ' ');
    return `${String(first + index).padStart(width)} | ${excerpt}`;
  });
  return [...numbered, `${' '.repeat(width)} | ${' '.repeat(column - 1 - from)}^`].join('\n');
}
