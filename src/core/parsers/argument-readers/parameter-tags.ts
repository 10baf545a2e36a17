/**
 * Arguments as pairs of key and bare text between tags: this side reads the markup, the writer makes JSON of what it
 * holds. A closing tag counts only when something may follow it that the format knows, so that one quoted inside a value
 * survives; a missing closing tag ends at the next key or the end of the call.
 */

import type {ArgumentReader, CreateReader, ReaderContext, ReaderState, ReaderStep} from '../argument-reader.ts';
import {propertiesOf, withMarkers} from '../argument-reader.ts';
import type {FinishReason} from '../events.ts';
import {MarkerScanner} from '../machine/marker-scanner.ts';
import {type ParameterRules, ParameterWriter} from './parameter-writer.ts';

export interface ParameterTags extends ParameterRules {
  /** In front of a key, such as `<parameter=`. */
  keyOpen: string;
  /** Behind a key. */
  keyClose: string;
  /** In front of a value when it has an opener of its own; blanks may stand between. */
  valueOpen?: string;
  valueClose: string;
  /** Ends the call and belongs to it. */
  callClose?: string;
  /** End the call and belong to what follows. */
  ends: readonly string[];
  /** Around a type that may be written between key and value; it counts for parameters that are not declared. */
  typeTags?: {open: string; close: string};
  /** Text between parameters, a value without its tags or a key given twice: no call. */
  isStrict?: boolean;
  /** A value may stand in `<![CDATA[` and `]]>`; closing tags in it are text. */
  mayBeQuoted?: boolean;
}

export function parameterTags(tags: ParameterTags): CreateReader {
  const scanners = scannersOf(tags);
  const {keyOpen, keyClose, valueOpen = '', valueClose, callClose = '', ends} = tags;
  const markers = [keyOpen, keyClose, valueOpen, valueClose, callClose, ...ends].filter((marker) => marker !== '');
  return withMarkers((context) => new ParameterTagsReader(tags, scanners, context), markers);
}

const QUOTE_OPEN = '<![CDATA[';
const QUOTE_CLOSE = ']]>';

type Part = 'between' | 'key' | 'opener' | 'value' | 'quoted';
type Scanners = Readonly<Record<Part, MarkerScanner>>;

function scannersOf(tags: ParameterTags): Scanners {
  const {keyOpen, keyClose, valueOpen = '', valueClose, callClose, ends} = tags;
  const over = [keyOpen, ...ends, ...(callClose === undefined ? [] : [callClose])];
  const withOpener = valueOpen === '' ? [] : [valueOpen];
  return {
    between: new MarkerScanner([...over, valueClose]),
    key: new MarkerScanner([keyClose, ...over, valueClose]),
    opener: new MarkerScanner([...withOpener, ...over, valueClose]),
    value: new MarkerScanner([valueClose, ...over]),
    quoted: new MarkerScanner([QUOTE_CLOSE]),
  };
}

class ParameterTagsReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #tags: ParameterTags;
  readonly #scanners: Scanners;
  readonly #writer: ParameterWriter;
  #part: Part = 'between';
  #text = '';
  #key = '';
  /** Text where the opener of a value should stand. */
  #beforeValue = '';
  /** A strict format's rule was broken. */
  #isBroken = false;
  /** The value's first characters decide whether it is quoted; behind the quotes only blanks follow. */
  #quotes: 'undecided' | 'closed' | 'none' = 'none';

  constructor(tags: ParameterTags, scanners: Scanners, context: ReaderContext) {
    this.#tags = tags;
    this.#scanners = scanners;
    this.name = context.name;
    this.#writer = new ParameterWriter(tags, propertiesOf(context));
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#run(false);
  }

  finish(finishReason: FinishReason): ReaderStep {
    const step = this.#run(true);
    if (step.state !== 'more') return step;
    const isInValue = this.#part === 'value' || this.#part === 'quoted';
    const end = isInValue ? this.#writer.cutValue(finishReason) : this.#writer.closing();
    return {json: step.json + end, state: 'done', rest: ''};
  }

  #run(final: boolean): ReaderStep {
    for (;;) {
      if (this.#quotes === 'undecided' && !this.#decideQuotes(final)) break;
      const hit = this.#scanners[this.#part].scan(this.#text, final);
      this.#consume(this.#text.slice(0, hit.index));
      this.#text = this.#text.slice(hit.index);
      if (hit.marker === undefined) break;
      const state = this.#isOutOfPlace(hit.marker) ? 'failed' : this.#take(hit.marker, final);
      if (state === 'wait') break;
      if (state !== 'more') return this.#end(state);
    }
    return {json: this.#writer.takeJson(), state: 'more', rest: ''};
  }

  /** False when more text is needed. */
  #decideQuotes(final: boolean): boolean {
    const solid = this.#text.trimStart();
    if (!final && QUOTE_OPEN.startsWith(solid.slice(0, QUOTE_OPEN.length)) && solid.length < QUOTE_OPEN.length)
      return false;
    this.#quotes = 'none';
    if (!solid.startsWith(QUOTE_OPEN)) return true;
    this.#text = solid.slice(QUOTE_OPEN.length);
    this.#part = 'quoted';
    return true;
  }

  #closeQuotes(): ReaderState {
    this.#text = this.#text.slice(QUOTE_CLOSE.length);
    this.#part = 'value';
    this.#quotes = 'closed';
    return 'more';
  }

  #consume(text: string): void {
    if (this.#part === 'key') this.#key += text;
    else if (this.#part === 'value' || this.#part === 'quoted') this.#growValue(text);
    else if (this.#part === 'opener') this.#beforeValue += text;
    else if (this.#tags.isStrict === true && text.trim() !== '') this.#isBroken = true;
  }

  /** The rules of a strict format do not allow that marker here. */
  #isOutOfPlace(marker: string): boolean {
    const {isStrict, keyClose, valueOpen, valueClose, keyOpen, callClose} = this.#tags;
    if (isStrict !== true) return false;
    const expected = {
      between: [keyOpen, callClose],
      key: [keyClose],
      opener: [valueOpen],
      value: [valueClose],
      quoted: [QUOTE_CLOSE],
    };
    return this.#isBroken || !expected[this.#part].includes(marker);
  }

  /** What a marker at the beginning of the text does. */
  #take(marker: string, final: boolean): ReaderState | 'wait' {
    const {keyOpen, valueOpen, valueClose, callClose} = this.#tags;
    if (this.#part === 'quoted') return this.#closeQuotes();
    if (marker === valueClose && this.#part === 'value') return this.#closeTag(final);
    if (marker === valueClose && this.#part === 'opener') return this.#closeUnopened(final);
    if (this.#part === 'value') this.#endUnclosedValue();
    if (marker === this.#tags.keyClose && this.#part === 'key') return this.#endKey();
    if (marker === valueOpen && this.#part === 'opener') return this.#beginOpenedValue(marker);
    if (marker === keyOpen) return this.#beginKey();
    if (marker === valueClose) return this.#skip(marker);
    if (marker === callClose) this.#text = this.#text.slice(marker.length);
    return 'done';
  }

  #beginOpenedValue(marker: string): ReaderState {
    const before = this.#beforeValue.trim();
    const {open, close} = this.#tags.typeTags ?? {open: '', close: ''};
    const isType = open !== '' && before.startsWith(open) && before.endsWith(close);
    if (this.#tags.isStrict === true) this.#isBroken = (before !== '' && !isType) || this.#writer.isRepeated;
    return this.#beginValue(marker, isType ? before.slice(open.length, -close.length).trim() : undefined);
  }

  /** The opener of the value is missing. */
  #closeUnopened(final: boolean): ReaderState | 'wait' {
    this.#beginValue('');
    this.#writer.growValue(this.#beforeValue.trimStart());
    return this.#closeTag(final);
  }

  #skip(marker: string): ReaderState {
    this.#text = this.#text.slice(marker.length);
    this.#part = 'between';
    return 'more';
  }

  #beginKey(): ReaderState {
    this.#writer.beginKey();
    this.#text = this.#text.slice(this.#tags.keyOpen.length);
    this.#key = '';
    this.#part = 'key';
    return 'more';
  }

  #endKey(): ReaderState {
    const {keyClose, valueOpen = ''} = this.#tags;
    this.#part = 'opener';
    this.#beforeValue = '';
    this.#writer.endKey(this.#key.trim());
    if (valueOpen === '') return this.#beginValue(keyClose);
    this.#text = this.#text.slice(keyClose.length);
    return 'more';
  }

  #beginValue(marker: string, writtenType?: string): ReaderState {
    this.#text = this.#text.slice(marker.length);
    this.#part = 'value';
    this.#quotes = this.#tags.mayBeQuoted === true ? 'undecided' : 'none';
    this.#writer.beginValue(writtenType);
    return 'more';
  }

  /** The closing tag counts when nothing but blanks and a known marker, or the end of the text, follows. */
  #closeTag(final: boolean): ReaderState | 'wait' {
    const {valueClose, keyOpen, callClose = '', ends} = this.#tags;
    const behind = this.#text.slice(valueClose.length).trimStart();
    if (behind === '' && !final) return 'wait';
    const followers = [keyOpen, callClose, ...ends].filter((marker) => marker !== '');
    const mayFollow = followers.some((marker) => behind.startsWith(marker));
    const mayGrow = !final && followers.some((marker) => marker.startsWith(behind));
    if (!mayFollow && mayGrow) return 'wait';
    this.#text = this.#text.slice(valueClose.length);
    if (mayFollow || behind === '') this.#endValue();
    else this.#growValue(valueClose);
    return 'more';
  }

  /** Blanks behind quotes are markup. */
  #growValue(text: string): void {
    if (this.#quotes !== 'closed' || text.trim() !== '') this.#writer.growValue(text);
  }

  #endValue(): void {
    this.#writer.endValue();
    this.#part = 'between';
  }

  #endUnclosedValue(): void {
    this.#writer.endUnclosedValue();
    this.#part = 'between';
  }

  #end(state: ReaderState): ReaderStep {
    const step = {json: this.#writer.takeJson() + this.#writer.closing(), state, rest: this.#text};
    this.#text = '';
    return step;
  }
}
