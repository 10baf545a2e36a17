/**
 * Finds the markers of one mode in a growing text. The longest marker wins; an end of the text that may still become a
 * marker is held back. Nothing is looked at twice except that held-back end, so scanning is linear.
 */

export interface MarkerHit {
  index: number;
  /** The marker found at `index`; undefined: no marker yet, and only the text in front of `index` is safe. */
  marker: string | undefined;
}

const ESCAPED = /[\\^$.*+?()[\]{}|/-]/g;

export class MarkerScanner {
  /** Longest first. */
  readonly #markers: readonly string[];
  readonly #pattern: RegExp | undefined;
  readonly #firstCharacters: ReadonlySet<string>;
  readonly #longest: number;

  constructor(markers: readonly string[]) {
    this.#markers = [...markers].sort((a, b) => b.length - a.length);
    this.#pattern = markers.length === 0 ? undefined : new RegExp(this.#markers.map(escapePattern).join('|'), 'g');
    this.#firstCharacters = new Set(markers.map((marker) => marker.charAt(0)));
    this.#longest = this.#markers[0]?.length ?? 0;
  }

  /**
   * The first marker of `text`, or the point up to which no marker can begin.
   * @param final no more text comes: nothing is held back
   */
  scan(text: string, final: boolean): MarkerHit {
    if (this.#pattern === undefined) return {index: text.length, marker: undefined};
    this.#pattern.lastIndex = 0;
    const found = this.#pattern.exec(text);
    const held = final ? text.length : this.#heldBackFrom(text);
    if (found === null || held < found.index) return {index: held, marker: undefined};
    if (held === found.index && this.#mayGrow(text, found.index)) return {index: held, marker: undefined};
    return {index: found.index, marker: found[0]};
  }

  /** Where the longest end of `text` begins that is the beginning of a longer marker. */
  #heldBackFrom(text: string): number {
    for (let start = Math.max(0, text.length - this.#longest + 1); start < text.length; start++) {
      if (this.#firstCharacters.has(text.charAt(start)) && this.#mayGrow(text, start)) return start;
    }
    return text.length;
  }

  #mayGrow(text: string, start: number): boolean {
    const length = text.length - start;
    return this.#markers.some((marker) => marker.length > length && text.startsWith(marker.slice(0, length), start));
  }
}

function escapePattern(text: string): string {
  return text.replaceAll(ESCAPED, '\\$&');
}
