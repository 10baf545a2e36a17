/**
 * The last station of a choice: turns events of a machine into pieces. It owns what concerns the request and not the
 * format: indices and ids of calls, which calls and which reasoning are kept, and blanks between calls.
 */

import type {ToolCallIdStyle} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import type {ParsedPiece} from '../parsed-piece.ts';
import {makeToolCallId} from '../tool-call-ids.ts';
import type {ParseSink} from './parse-sink.ts';

export interface AssemblerOptions {
  ids: ToolCallIdStyle;
  /** Calls are reported; otherwise their markup is dropped. */
  keepsCalls: boolean;
  /** Blanks that may stand in front of a call wait until text follows. */
  holdsBlanks: boolean;
}

export class PieceAssembler implements ParseSink {
  readonly #context: ParserContext;
  readonly #options: AssemblerOptions;
  #pieces: ParsedPiece[] = [];
  /** Calls seen, also those that are not kept. */
  #numCalls = 0;
  #keepsCall = false;
  /** Blanks since the beginning or the last call. */
  #blanks: string | undefined = '';

  constructor(context: ParserContext, options: AssemblerOptions) {
    this.#context = context;
    this.#options = options;
    if (!options.holdsBlanks) this.#blanks = undefined;
  }

  content(text: string): void {
    if (this.#blanks !== undefined && text.trim() === '') {
      this.#blanks += text;
      return;
    }
    this.#addText((this.#blanks ?? '') + text);
    this.#blanks = undefined;
  }

  reasoning(text: string): void {
    if (!this.#context.includeReasoning) return;
    const last = this.#pieces.at(-1);
    if (last?.type === 'reasoning-delta') last.text += text;
    else this.#pieces.push({type: 'reasoning-delta', text});
  }

  callStart(name: string, id: string | undefined): void {
    const index = this.#numCalls++;
    if (this.#options.holdsBlanks) this.#blanks = '';
    this.#keepsCall = this.#options.keepsCalls && (index === 0 || this.#context.parallelToolCalls);
    if (!this.#keepsCall) return;
    const made = id ?? makeToolCallId(this.#options.ids, {name, index}, this.#context);
    this.#pieces.push({type: 'tool-call-start', index, id: made, name});
  }

  callArguments(json: string): void {
    if (!this.#keepsCall || json === '') return;
    const index = this.#numCalls - 1;
    const last = this.#pieces.at(-1);
    if (last?.type === 'tool-call-delta' && last.index === index) last.argumentsText += json;
    else this.#pieces.push({type: 'tool-call-delta', index, argumentsText: json});
  }

  callEnd(): void {
    this.#keepsCall = false;
  }

  /** The text is complete: blanks that waited are shown when no call came. */
  end(): void {
    if (this.#numCalls === 0 && this.#blanks !== undefined) this.#addText(this.#blanks);
    this.#blanks = undefined;
  }

  takePieces(): ParsedPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #addText(text: string): void {
    if (text === '') return;
    const last = this.#pieces.at(-1);
    if (last?.type === 'text-delta') last.text += text;
    else this.#pieces.push({type: 'text-delta', text});
  }
}
