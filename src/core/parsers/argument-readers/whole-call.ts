/**
 * Wraps a reader so that its call is reported only when it is complete: for formats whose broken calls must vanish. A
 * call that a length limit cut off is reported as far as it came.
 */

import {type ArgumentReader, type CreateReader, MORE, type ReaderStep, withMarkers} from '../argument-reader.ts';
import type {FinishReason} from '../events.ts';

/** @param isStrict a call that the text cuts off is no call, whatever cut it */
export function wholeCall(create: CreateReader, isStrict = false): CreateReader {
  return withMarkers((context) => new WholeCallReader(create(context), isStrict), create.markers ?? []);
}

class WholeCallReader implements ArgumentReader {
  name: string | undefined;
  readonly #inner: ArgumentReader;
  readonly #isStrict: boolean;
  #json = '';

  constructor(inner: ArgumentReader, isStrict: boolean) {
    this.#inner = inner;
    this.#isStrict = isStrict;
  }

  push(text: string): ReaderStep {
    const step = this.#inner.push(text);
    this.#json += step.json;
    return step.state === 'more' ? MORE : this.#report(step);
  }

  finish(finishReason: FinishReason): ReaderStep {
    const step = this.#inner.finish(finishReason);
    this.#json += step.json;
    if (this.#isStrict) return {json: '', state: 'failed', rest: ''};
    const isBroken = step.state !== 'done' && finishReason !== 'length';
    return isBroken ? {json: '', state: 'void', rest: step.rest} : this.#report(step);
  }

  #report(step: ReaderStep): ReaderStep {
    this.name = this.#inner.name;
    return {...step, json: this.#json};
  }
}
