/**
 * Tells markers from texts that only look like them: where the tokenizer has a marker as one token, the marker counts
 * when that token was generated. A look-alike of ordinary tokens gets a character into it that no text has, so that no
 * parser takes it for a marker; whoever shows what was read takes the character out again.
 */

/** A code point that Unicode promises never to use for text. */
const SPLIT = '\ufdd0';

/** Removes what was put into look-alikes. */
export function withoutSplits(text: string): string {
  return text.includes(SPLIT) ? text.replaceAll(SPLIT, '') : text;
}

export class LiteralMarkers {
  readonly #markers: readonly string[];
  readonly #tokens: ReadonlyMap<number, string>;
  readonly #lastCharacters: ReadonlySet<string>;
  readonly #longest: number;
  /** Characters of the answer that tokens have announced. */
  #numAnnounced = 0;
  /** Where generated markers begin and end in the answer. */
  #generated: {start: number; end: number}[] = [];
  /** Characters of the answer that were read, and the last of them. */
  #numRead = 0;
  #tail = '';

  /** @param tokens ids of markers that are one token */
  constructor(tokens: ReadonlyMap<number, string>) {
    this.#tokens = tokens;
    this.#markers = [...tokens.values()];
    this.#lastCharacters = new Set(this.#markers.map((marker) => marker.slice(-1)));
    this.#longest = Math.max(0, ...this.#markers.map((marker) => marker.length));
  }

  /** A token was generated; its text will be read, now or later. */
  announce(tokenId: number, text: string): void {
    if (this.#markers.length === 0) return;
    this.#numAnnounced += text.length;
    const marker = this.#tokens.get(tokenId);
    if (marker === undefined || !text.endsWith(marker)) return;
    this.#generated.push({start: this.#numAnnounced - marker.length, end: this.#numAnnounced});
  }

  /** The next characters of the answer, look-alikes split. */
  split(text: string): string {
    if (this.#markers.length === 0) return text;
    const ends = this.#endsOfLookalikes(text);
    this.#numRead += text.length;
    this.#tail = (this.#tail + text).slice(-this.#longest);
    this.#generated = this.#generated.filter(({end}) => end > this.#numRead - this.#longest);
    return ends.toReversed().reduce((whole, end) => whole.slice(0, end - 1) + SPLIT + whole.slice(end - 1), text);
  }

  /** In ascending order, behind their last characters. */
  #endsOfLookalikes(text: string): number[] {
    const ends: number[] = [];
    for (let index = 0; index < text.length; index++) {
      if (!this.#lastCharacters.has(text.charAt(index))) continue;
      if (this.#isLookalike(this.#tail + text.slice(0, index + 1), this.#numRead + index + 1)) ends.push(index + 1);
    }
    return ends;
  }

  #isLookalike(written: string, end: number): boolean {
    const isGenerated = this.#generated.some((span) => span.start < end && end <= span.end);
    return !isGenerated && this.#markers.some((marker) => written.endsWith(marker));
  }
}
