/**
 * Wraps a reader so that its call is reported only when it is complete: for formats whose broken calls must vanish. A
 * call that a length limit cut off is reported as far as it came, unless the format is strict.
 */

import {type ArgumentReader, type CreateReader, MORE, type ReaderStep, withMarkers} from '../argument-reader.ts';
import type {FinishReason} from '../events.ts';
import type {ParserContext} from '../output-parser.ts';

export interface WholeCallOptions {
  /** A call that the text cuts off or that breaks a rule is no call, whatever cut it. */
  isStrict?: boolean;
  /** Says of a complete call whether it is one. */
  accepts?: (call: {name: string; json: string}, request: ParserContext) => boolean;
}

export function wholeCall(create: CreateReader, options: WholeCallOptions = {}): CreateReader {
  return withMarkers((context) => new WholeCallReader(create(context), options, context.request), create.markers ?? []);
}

class WholeCallReader implements ArgumentReader {
  name: string | undefined;
  readonly #inner: ArgumentReader;
  readonly #options: WholeCallOptions;
  readonly #request: ParserContext;
  #json = '';

  constructor(inner: ArgumentReader, options: WholeCallOptions, request: ParserContext) {
    this.#inner = inner;
    this.#options = options;
    this.#request = request;
  }

  push(text: string): ReaderStep {
    const step = this.#inner.push(text);
    this.#json += step.json;
    return step.state === 'more' ? MORE : this.#report(step);
  }

  finish(finishReason: FinishReason): ReaderStep {
    const step = this.#inner.finish(finishReason);
    this.#json += step.json;
    if (this.#options.isStrict === true) return {json: '', state: 'failed', rest: ''};
    const isBroken = step.state !== 'done' && finishReason !== 'length';
    return isBroken ? {json: '', state: 'void', rest: step.rest} : this.#report(step);
  }

  #report(step: ReaderStep): ReaderStep {
    if (!this.#isAccepted(step)) return {json: '', state: 'failed', rest: step.rest};
    this.name = this.#inner.name;
    return {...step, json: this.#json};
  }

  #isAccepted({state}: ReaderStep): boolean {
    const {isStrict, accepts} = this.#options;
    const {name} = this.#inner;
    if (isStrict === true && state !== 'done') return false;
    return accepts === undefined || (name !== undefined && accepts({name, json: this.#json}, this.#request));
  }
}
