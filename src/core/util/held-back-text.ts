/**
 * Watches a growing text for patterns (stop strings, tags) and says how much of its end must be held back because a
 * pattern may still be completed there. One automaton per pattern (Knuth-Morris-Pratt), so the cost is the same for
 * every character, whatever the patterns are, and it does not matter how the text is cut into pieces.
 */

export interface PatternMatch {
  /** Index into the list of patterns. */
  pattern: number;
  /** Offset in the piece just fed, behind the last character of the pattern. */
  end: number;
}

export class PatternWatcher {
  readonly #automata: PatternAutomaton[];

  /** @param patterns none of them empty */
  constructor(patterns: readonly string[]) {
    this.#automata = patterns.map((pattern) => new PatternAutomaton(pattern));
  }

  /**
   * Takes the next piece of the text and stops at the first place where a pattern ends; of several that end there the
   * first in the list counts. Do not feed anything after a match.
   */
  feed(text: string): PatternMatch | null {
    for (let index = 0; index < text.length; index++) {
      const pattern = this.#advance(text.charCodeAt(index));
      if (pattern !== null) return {pattern, end: index + 1};
    }
    return null;
  }

  /** Takes a piece in which no match counts; a pattern may still begin there. */
  skip(text: string): void {
    for (let index = 0; index < text.length; index++) this.#advance(text.charCodeAt(index));
  }

  /** Length of the longest tail of everything fed so far that begins a pattern without completing it. */
  get heldLength(): number {
    return this.#automata.reduce((longest, automaton) => Math.max(longest, automaton.heldLength), 0);
  }

  #advance(codeUnit: number): number | null {
    let completed: number | null = null;
    this.#automata.forEach((automaton, index) => {
      if (automaton.advance(codeUnit)) completed ??= index;
    });
    return completed;
  }
}

class PatternAutomaton {
  readonly #pattern: string;
  /** `#fallback[n]` = length of the longest proper prefix of the pattern that ends its first n characters. */
  readonly #fallback: Uint32Array;
  #matched = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#fallback = buildFallback(pattern);
  }

  /** A completed pattern is no longer held back; only what may begin the next one is. */
  get heldLength(): number {
    return this.#matched === this.#pattern.length ? this.#fallback[this.#matched]! : this.#matched;
  }

  /** @returns true when the pattern ends with this character */
  advance(codeUnit: number): boolean {
    this.#matched = nextLength(this.#pattern, this.#fallback, this.heldLength, codeUnit);
    return this.#matched === this.#pattern.length;
  }
}

function buildFallback(pattern: string): Uint32Array {
  const fallback = new Uint32Array(pattern.length + 1);
  for (let length = 1, border = 0; length < pattern.length; length++) {
    border = nextLength(pattern, fallback, border, pattern.charCodeAt(length));
    fallback[length + 1] = border;
  }
  return fallback;
}

function nextLength(pattern: string, fallback: Uint32Array, matched: number, codeUnit: number): number {
  let length = matched;
  while (length > 0 && pattern.charCodeAt(length) !== codeUnit) length = fallback[length]!;
  return pattern.charCodeAt(length) === codeUnit ? length + 1 : 0;
}
