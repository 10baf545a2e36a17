/**
 * Scans one JSON value out of a growing text without building it: strings, escapes and nesting are tracked, the value's
 * own text is passed on. Models break off in the middle of strings, so the markers that close a call are watched, too:
 * outside strings one ends the value at once; inside a string everything from it on waits until the string turns out to
 * end properly (the marker was quoted) or not (the value was broken off at the marker).
 */

export interface ValueStep {
  /** The next characters of the value. */
  json: string;
  /** `cut`: a close marker ended the value before it was complete. */
  state: 'more' | 'done' | 'cut';
  /** Text behind the value. */
  rest: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENERS = new Set([0x7b, 0x5b]);
const CLOSERS = new Set([0x7d, 0x5d]);
/** What may follow a string: a comma, a colon, a closing bracket. */
const AFTER_STRING = new Set([',', ':', '}', ']']);

type MarkerAt = 'yes' | 'maybe' | 'no';
type Outcome = {end: number; state: 'done' | 'cut'} | 'wait' | undefined;

export class JsonValueScanner {
  readonly #closeMarkers: readonly string[];
  readonly #markerStarts: ReadonlySet<number>;
  /** Text not yet passed on. */
  #text = '';
  /** Up to here the text was looked at. */
  #position = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #started = false;
  /** A close marker inside the current string; its text waits. */
  #doubtFrom = -1;

  constructor(closeMarkers: readonly string[]) {
    this.#closeMarkers = closeMarkers;
    this.#markerStarts = new Set(closeMarkers.map((marker) => marker.charCodeAt(0)));
  }

  /** @param final no more text comes */
  push(text: string, final = false): ValueStep {
    this.#text += text;
    while (this.#position < this.#text.length) {
      const outcome = this.#look(this.#position, final);
      if (outcome === 'wait') break;
      if (outcome !== undefined) return this.#end(outcome.end, outcome.state);
      this.#position++;
    }
    if (final && this.#doubtFrom >= 0) return this.#end(this.#doubtFrom, 'cut');
    return this.#pass();
  }

  #look(index: number, final: boolean): Outcome {
    const code = this.#text.charCodeAt(index);
    if (this.#inString) return this.#lookInString(index, code, final);
    const marker = this.#markerStarts.has(code) ? this.#markerAt(index, final) : 'no';
    if (marker === 'maybe') return 'wait';
    if (marker === 'yes') return {end: index, state: 'cut'};
    return this.#lookOutside(index, code);
  }

  #lookOutside(index: number, code: number): Outcome {
    const isBlank = code <= 0x20;
    if (!this.#started && !isBlank) this.#started = true;
    else if (this.#depth === 0 && this.#started && (isBlank || code === COMMA || CLOSERS.has(code))) {
      return {end: index, state: 'done'};
    }
    if (code === QUOTE) this.#inString = true;
    else if (OPENERS.has(code)) this.#depth++;
    else if (CLOSERS.has(code) && --this.#depth <= 0) return {end: index + 1, state: 'done'};
    return undefined;
  }

  #lookInString(index: number, code: number, final: boolean): Outcome {
    if (this.#escaped) this.#escaped = false;
    else if (code === BACKSLASH) this.#escaped = true;
    else if (code === QUOTE) return this.#lookAtQuote(index, final);
    else if (this.#doubtFrom < 0 && this.#markerStarts.has(code)) {
      const marker = this.#markerAt(index, final);
      if (marker === 'maybe') return 'wait';
      if (marker === 'yes') this.#doubtFrom = index;
    }
    return undefined;
  }

  /** The string ends here, unless a marker in it made that doubtful. */
  #lookAtQuote(index: number, final: boolean): Outcome {
    if (this.#doubtFrom >= 0) {
      const next = this.#text
        .slice(index + 1, index + 256)
        .trimStart()
        .charAt(0);
      if (next === '' && !final) return 'wait';
      if (!AFTER_STRING.has(next)) return {end: this.#doubtFrom, state: 'cut'};
      this.#doubtFrom = -1;
    }
    this.#inString = false;
    return this.#depth === 0 ? {end: index + 1, state: 'done'} : undefined;
  }

  #markerAt(index: number, final: boolean): MarkerAt {
    const length = this.#text.length - index;
    let answer: MarkerAt = 'no';
    for (const marker of this.#closeMarkers) {
      if (this.#text.startsWith(marker, index)) return 'yes';
      if (!final && marker.length > length && marker.startsWith(this.#text.slice(index))) answer = 'maybe';
    }
    return answer;
  }

  #end(end: number, state: 'done' | 'cut'): ValueStep {
    const step = {json: this.#text.slice(0, end), state, rest: this.#text.slice(end)};
    this.#text = '';
    return step;
  }

  /** Passes on what is certain. */
  #pass(): ValueStep {
    const certain = this.#doubtFrom >= 0 ? this.#doubtFrom : this.#position;
    const json = this.#text.slice(0, certain);
    this.#text = this.#text.slice(certain);
    this.#position -= certain;
    if (this.#doubtFrom >= 0) this.#doubtFrom = 0;
    return {json, state: 'more', rest: ''};
  }
}
