/**
 * Runs a format definition over a growing text. State is the mode, the text that is held back, the markup remembered
 * since a call opened (given back as content when no call comes of it) and the open call. What is found goes to a sink.
 */

import {assertInvariant} from '../../util/assert.ts';
import type {ArgumentReader, ReaderStep} from '../argument-reader.ts';
import type {FinishReason} from '../events.ts';
import type {CaptureMode, MachineDefinition, Mode, ReaderMode, TextMode, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {CallGroup} from './call-group.ts';
import {MarkerScanner} from './marker-scanner.ts';
import type {ParseSink} from './parse-sink.ts';

/** More moves than this without reading a character mean that a definition runs in a circle. */
const MAX_MOVES_IN_PLACE = 32;
const DEFAULT_MAX_CAPTURE = 4096;

interface OpenCall {
  name: string;
  hasArguments: boolean;
}

export class FormatMachine {
  readonly #definition: MachineDefinition;
  readonly #context: ParserContext;
  readonly #sink: ParseSink;
  readonly #scanners = new Map<Mode, MarkerScanner>();
  #mode: Mode;
  /** Text not yet read, among it what is held back. */
  #text = '';
  #movesInPlace = 0;
  /** Nothing but blanks was read since this mode began. */
  #atModeStart = true;
  /** Blanks of the mode that are dropped if the mode ends here. */
  #heldBlanks = '';
  #captured = '';
  #remembered: string | undefined;
  /** Remembered markup is not shown any more. */
  #hidesMarkup = false;
  #reader: ArgumentReader | undefined;
  #call: OpenCall | undefined;
  /** Calls that wait for the end of their group. */
  #group: CallGroup | undefined;
  /** All of the thought, while it may have to be repeated. */
  #loneThought: string | undefined;
  /** Name of the call that the next reader reads. */
  #pendingName: string | undefined;

  constructor(definition: MachineDefinition, context: ParserContext, sink: ParseSink) {
    this.#definition = definition;
    this.#context = context;
    this.#sink = sink;
    this.#loneThought = definition.repeatsLoneThought === true ? '' : undefined;
    this.#mode = this.#modeNamed(definition.start);
    this.#beginMode();
  }

  /** True in a mode whose text is a thought. */
  get isReasoning(): boolean {
    return this.#mode.kind === 'text' && this.#mode.as === 'reasoning';
  }

  push(text: string): void {
    this.#text += text;
    while (this.#text !== '' && this.#read(false));
  }

  finish(finishReason: FinishReason): void {
    this.#hidesMarkup = finishReason === 'length' && this.#context.hidesCutMarkup === true;
    do {
      while (this.#text !== '' && this.#read(true));
    } while (this.#finishMode(this.#mode, finishReason));
    this.#heldBlanks = '';
    this.#giveUpMarkup();
    this.#endCall(this.#definition.argumentsWhenCut);
    if (this.#loneThought) this.#sink.content(this.#loneThought);
  }

  /** What was read but not told yet: lets a caller show everything after a fault. */
  takeUnread(): string {
    const unread = (this.#remembered ?? '') + this.#heldBlanks + this.#text;
    this.#remembered = undefined;
    this.#heldBlanks = '';
    this.#text = '';
    return unread;
  }

  /** Reads on; false when only more text helps. */
  #read(final: boolean): boolean {
    const before = this.#text.length;
    const moved = this.#readMode(this.#mode, final);
    this.#movesInPlace = moved && this.#text.length >= before ? this.#movesInPlace + 1 : 0;
    assertInvariant(this.#movesInPlace < MAX_MOVES_IN_PLACE, 'modes of a format lead in a circle without reading');
    return moved;
  }

  #readMode(mode: Mode, final: boolean): boolean {
    switch (mode.kind) {
      case 'text':
        return this.#readText(mode, final);
      case 'capture':
        return this.#readCapture(mode, final);
      case 'reader':
        return this.#readCall(mode);
    }
  }

  #readText(mode: TextMode, final: boolean): boolean {
    const hit = this.#scanner(mode).scan(this.#text, final);
    if (mode.otherwise !== undefined && this.#atModeStart) {
      const solid = mode.otherwiseAtBlanks === true ? 0 : firstSolid(this.#text);
      if (solid < hit.index) {
        this.#tell(mode, this.#take(solid));
        this.#follow(mode.otherwise, '', mode);
        return true;
      }
    }
    this.#tell(mode, this.#take(hit.index));
    if (hit.marker === undefined) return false;
    this.#follow(mode.on?.[hit.marker] ?? {}, hit.marker, mode);
    return true;
  }

  #readCapture(mode: CaptureMode, final: boolean): boolean {
    const hit = this.#scanner(mode).scan(this.#text, final);
    const numLeft = (mode.maxLength ?? DEFAULT_MAX_CAPTURE) - this.#captured.length;
    const text = this.#take(Math.min(hit.index, numLeft + 1));
    this.#captured += text;
    this.#remember(text);
    if (text.length > numLeft) {
      this.#follow(mode.tooLong ?? {to: this.#definition.start, fails: true}, '', mode);
      return true;
    }
    if (hit.marker === undefined) return false;
    const rule = mode.on[hit.marker] ?? {};
    this.#follow(typeof rule === 'function' ? rule(this.#captured.trim()) : rule, hit.marker, mode);
    return true;
  }

  #readCall(mode: ReaderMode): boolean {
    assertInvariant(this.#reader !== undefined, 'a reader mode has a reader');
    const text = this.#take(this.#text.length);
    const step = this.#reader.push(text);
    this.#text = step.rest;
    this.#rememberRead(text, step.rest);
    this.#tellStep(step, this.#reader);
    if (step.state === 'more') return false;
    this.#leaveCall(mode, step);
    return true;
  }

  #tellStep(step: ReaderStep, reader: ArgumentReader): void {
    const isEnough = step.json !== '' || this.#definition.announceWithArguments !== true;
    if (reader.name !== undefined && this.#call === undefined && step.state !== 'void' && isEnough) {
      this.#startCall(reader.name, undefined);
    }
    this.#tellArguments(step.json);
  }

  #leaveCall(mode: ReaderMode, step: ReaderStep): void {
    const isCall = this.#call !== undefined;
    if (!isCall) this.#endWithoutCall(step.state === 'void');
    this.#endCall();
    this.#enter(isCall || step.state === 'void' ? mode.next : (mode.nextFailed ?? mode.next));
  }

  #endWithoutCall(isVoid: boolean): void {
    if (isVoid) this.#remembered = undefined;
    else this.#giveUpMarkup();
  }

  /** The text ends; true when a reader gave text back that must still be read. */
  #finishMode(mode: Mode, finishReason: FinishReason): boolean {
    if (mode.kind === 'reader' && this.#reader !== undefined)
      return this.#finishCall(mode, this.#reader.finish(finishReason), this.#reader);
    if (mode.kind === 'capture' && mode.atEnd !== undefined) this.#follow(mode.atEnd(this.#captured.trim()), '', mode);
    if (mode.kind === 'text' && mode.trimEnd !== true) this.#releaseBlanks(mode);
    return false;
  }

  #finishCall(mode: ReaderMode, step: ReaderStep, reader: ArgumentReader): boolean {
    this.#tellStep(step, reader);
    if (step.rest !== '') {
      this.#text = step.rest;
      this.#forgetLast(step.rest.length);
      this.#leaveCall(mode, step);
      return true;
    }
    if (this.#call === undefined) this.#endWithoutCall(step.state === 'void');
    else if (step.state === 'done') this.#endCall(this.#definition.argumentsWhenCut);
    return false;
  }

  /** Goes where a transition leads; the text begins with the marker. */
  #follow(transition: Transition, marker: string, mode: Mode): void {
    if (transition.marker === 'keep' && mode.kind === 'text') this.#tell(mode, marker);
    if (transition.opensCall === true) this.#openMarkup();
    if (transition.opensGroup === true) this.#group = new CallGroup();
    if (transition.marker !== 'reread') this.#take(marker.length);
    if (transition.marker === undefined || transition.marker === 'drop') this.#remember(marker);
    if (transition.shows !== undefined) this.#showCaptured(transition.shows);
    if (transition.inserts !== undefined) this.#sink.content(transition.inserts);
    if (transition.closesGroup === true) this.#closeGroup();
    if (transition.fails === true) this.#giveUpMarkup('content');
    if (transition.drops === true) this.#remembered = undefined;
    if (transition.call !== undefined) {
      this.#endCall();
      this.#startCall(transition.call.name, transition.call.id);
    }
    this.#pendingName = transition.names;
    if (transition.to !== undefined) this.#enter(transition.to);
  }

  #enter(name: string): void {
    this.#mode = this.#modeNamed(name);
    this.#beginMode();
  }

  #beginMode(): void {
    const mode = this.#mode;
    this.#atModeStart = true;
    this.#heldBlanks = '';
    this.#captured = '';
    this.#reader = undefined;
    if (mode.kind === 'reader') {
      this.#reader = mode.create({request: this.#context, name: this.#call?.name ?? this.#pendingName});
    } else this.#endCall();
  }

  /** Gives text its meaning in a text mode; blanks at its ends as the mode says. */
  #tell(mode: TextMode, given: string): void {
    let text = given;
    if (this.#atModeStart) {
      const solid = firstSolid(text);
      if (mode.trimStart === true) text = text.slice(solid);
      if (solid < given.length) this.#atModeStart = false;
    }
    if (text === '') return;
    if (mode.trimEnd === true) text = this.#holdBlanks(text);
    this.#tellAs(mode, text);
  }

  #holdBlanks(text: string): string {
    const all = this.#heldBlanks + text;
    const solid = all.trimEnd();
    this.#heldBlanks = all.slice(solid.length);
    return solid;
  }

  #releaseBlanks(mode: TextMode): void {
    this.#tellAs(mode, this.#heldBlanks);
    this.#heldBlanks = '';
  }

  #tellAs(mode: TextMode, text: string): void {
    if (text === '') return;
    if (this.#loneThought !== undefined) this.#noteThought(mode, text);
    if (mode.as === 'content') this.#sink.content(text);
    else if (mode.as === 'reasoning') this.#sink.reasoning(text);
    else this.#remember(text);
  }

  #noteThought({as}: TextMode, text: string): void {
    if (as === 'reasoning') this.#loneThought += text;
    else if (text.trim() !== '') this.#loneThought = undefined;
  }

  #showCaptured(as: 'content' | 'reasoning'): void {
    if (this.#captured !== '') this.#sink[as](this.#captured);
    this.#captured = '';
  }

  #openMarkup(): void {
    this.#remembered ??= '';
  }

  #remember(text: string): void {
    if (this.#remembered !== undefined) this.#remembered += text;
  }

  /** Remembers what a reader took of a text; `rest`, what it gave back, may reach into texts before. */
  #rememberRead(text: string, rest: string): void {
    const numTaken = text.length - rest.length;
    if (numTaken >= 0) this.#remember(text.slice(0, numTaken));
    else this.#forgetLast(-numTaken);
  }

  /** A reader gave the last characters back. */
  #forgetLast(length: number): void {
    if (this.#remembered !== undefined && length > 0) this.#remembered = this.#remembered.slice(0, -length);
  }

  /** The remembered markup was no call. */
  #giveUpMarkup(as = this.#definition.unnamedMarkup ?? 'content'): void {
    const markup = this.#remembered ?? '';
    this.#remembered = undefined;
    if (this.#group !== undefined) this.#dropGroup();
    if (as === 'content' && markup !== '' && !this.#hidesMarkup) this.#sink.content(markup);
  }

  #dropGroup(): void {
    this.#group = undefined;
    this.#call = undefined;
  }

  #closeGroup(): void {
    this.#endCall();
    if (this.#group === undefined || this.#group.isEmpty) return this.#giveUpMarkup('content');
    this.#group.release(this.#sink);
    this.#group = undefined;
    this.#remembered = undefined;
  }

  /** Where calls go: to the reader of the answer, or to the group that they wait in. */
  get #calls(): ParseSink | CallGroup {
    return this.#group ?? this.#sink;
  }

  #startCall(name: string, id: string | undefined): void {
    if (this.#group === undefined) this.#remembered = undefined;
    this.#call = {name, hasArguments: false};
    this.#calls.callStart(name, id);
  }

  #tellArguments(json: string): void {
    if (json === '' || this.#call === undefined) return;
    this.#call.hasArguments = true;
    this.#calls.callArguments(json);
  }

  /** @param none arguments of a call that has none */
  #endCall(none = '{}'): void {
    if (this.#call === undefined) return;
    if (!this.#call.hasArguments) this.#calls.callArguments(none);
    this.#call = undefined;
    this.#calls.callEnd();
  }

  #scanner(mode: TextMode | CaptureMode): MarkerScanner {
    const known = this.#scanners.get(mode);
    if (known !== undefined) return known;
    const scanner = new MarkerScanner(Object.keys(mode.on ?? {}));
    this.#scanners.set(mode, scanner);
    return scanner;
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }

  #modeNamed(name: string): Mode {
    const mode = this.#definition.modes[name];
    assertInvariant(mode !== undefined, `the format has a mode ${name}`);
    return mode;
  }
}

/** Index of the first character that is no blank; the length when there is none. */
function firstSolid(text: string): number {
  const index = text.search(/\S/);
  return index < 0 ? text.length : index;
}
