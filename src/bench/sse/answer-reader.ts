/**
 * Fills the record of one request from its stream: bytes with the time of their read in, moments, token counts and texts
 * out. Knows what a whole answer is, and so what is missing when a stream ends.
 */

import {EventSplitter} from '../../core/util/event-splitter.ts';
import type {Failure, RequestRecord} from '../request-record.ts';
import {readChunk, type StreamChunk, type ToolCallPiece} from './stream-chunk.ts';

const endOfStream = '[DONE]';
/** Most characters of foreign text in a message of ours. */
const maxExcerpt = 200;

export interface AnswerReaderOptions {
  /** Choices that must finish. */
  numChoices: number;
}

export class AnswerReader {
  readonly #record: RequestRecord;
  readonly #splitter = new EventSplitter();
  readonly #numChoices: number;
  readonly #finished = new Set<number>();
  /** Completion tokens that the last running usage of each choice told. */
  readonly #tokensSoFar = new Map<number, number>();
  /** Tokens of events without output, such as text that is held back: they belong to the next output. */
  #tokensHeldBack = 0;

  constructor(record: RequestRecord, {numChoices}: AnswerReaderOptions) {
    this.#record = record;
    this.#numChoices = numChoices;
  }

  /** @param timeMs when the bytes were read; all events of one read share it */
  push(bytes: Uint8Array, timeMs: number): void {
    for (const data of this.#splitter.push(bytes)) this.#take(data, timeMs);
  }

  /** Says that the stream has ended; fills `failure` when the answer is not whole. */
  finish(timeMs: number): void {
    for (const data of this.#splitter.finish()) this.#take(data, timeMs);
    this.#record.failure ??= this.#whatIsMissing();
    this.#checkUsage();
  }

  /**
   * Usage that cannot be true is no usage: no tokens where there is output. Events that carry more tokens than there are
   * were counted another way, so each is one of its own.
   */
  #checkUsage(): void {
    const record = this.#record;
    const {chunkTokens, outputTimesMs} = record;
    if (record.completionTokens === 0 && outputTimesMs.length > 0) {
      record.completionTokens = null;
      record.tokenCountSource = 'events';
    }
    const sum = chunkTokens.reduce<number>((total, numTokens) => total + (numTokens ?? 0), 0);
    const isOneSided = chunkTokens.some((numTokens) => numTokens === null || numTokens < 0);
    if (isOneSided || record.completionTokens === null || sum > record.completionTokens) chunkTokens.fill(null);
  }

  #whatIsMissing(): Failure | null {
    const {firstMs, firstChunkMs, doneMs} = this.#record;
    if (this.#finished.size < this.#numChoices && !(doneMs !== null && firstMs === null)) {
      return {type: 'truncated', message: 'The stream ended before every choice had a finish_reason.'};
    }
    if (firstMs === null) {
      const what = firstChunkMs === null ? 'no choice' : 'no output';
      return {type: 'empty', message: `The stream was complete but carried ${what}.`};
    }
    return null;
  }

  #take(data: string, timeMs: number): void {
    if (data === endOfStream) {
      this.#record.doneMs = timeMs;
      return;
    }
    const chunk = readChunk(data);
    if (chunk === null)
      this.#fail({type: 'malformed', message: `An event is no JSON of a completion: ${excerpt(data)}`});
    else if (chunk.error !== null) this.#fail({type: 'error_event', message: chunk.error});
    else this.#takeChunk(chunk, timeMs);
  }

  /** The first failure is the cause of what follows. */
  #fail(failure: Failure): void {
    this.#record.failure ??= failure;
  }

  #takeChunk(chunk: StreamChunk, timeMs: number): void {
    const record = this.#record;
    if (chunk.hasChoices) {
      record.firstChunkMs ??= timeMs;
      record.lastMs = timeMs;
    }
    const numTokens = this.#takeUsage(chunk);
    if (chunk.hasOutput) this.#takeOutput(chunk, numTokens, timeMs);
    else this.#tokensHeldBack += numTokens ?? 0;
    for (const {index, reason} of chunk.finishes) {
      this.#finished.add(index);
      record.finishReason ??= reason;
    }
  }

  /** @returns tokens since the last running usage; null when this event does not tell */
  #takeUsage({usage, hasChoices, choiceIndex}: StreamChunk): number | null {
    if (usage === null) return null;
    const record = this.#record;
    record.promptTokens = usage.promptTokens ?? record.promptTokens;
    record.cachedTokens = usage.cachedTokens ?? record.cachedTokens;
    if (usage.completionTokens === null) return null;
    record.tokenCountSource = 'usage';
    if (this.#numChoices === 1) return this.#countUp(0, usage.completionTokens);
    // With several choices the usage of an event is that of its choice, and the one without choices is the sum.
    if (hasChoices && choiceIndex !== null) return this.#countUp(choiceIndex, usage.completionTokens);
    record.completionTokens = usage.completionTokens;
    return null;
  }

  #countUp(choice: number, numTokens: number): number {
    const numNew = numTokens - (this.#tokensSoFar.get(choice) ?? 0);
    this.#tokensSoFar.set(choice, numTokens);
    this.#record.completionTokens = (this.#record.completionTokens ?? 0) + numNew;
    return numNew;
  }

  #takeOutput(chunk: StreamChunk, numTokens: number | null, timeMs: number): void {
    const record = this.#record;
    record.firstMs ??= timeMs;
    if (chunk.hasAnswer) record.firstAnswerMs ??= timeMs;
    if (chunk.hasReasoning) record.hasReasoning = true;
    record.outputTimesMs.push(timeMs);
    record.chunkTokens.push(numTokens === null ? null : numTokens + this.#tokensHeldBack);
    this.#tokensHeldBack = 0;
    record.content += chunk.content;
    record.reasoning += chunk.reasoning;
    record.otherTexts += chunk.otherTexts;
    for (const piece of chunk.toolCalls) addToolCallPiece(record.toolCalls, piece);
  }
}

function addToolCallPiece(calls: RequestRecord['toolCalls'], {index, id, name, argumentsText}: ToolCallPiece): void {
  calls[index] ??= {id: null, name: '', argumentsText: ''};
  const call = calls[index];
  call.id ??= id;
  call.name += name ?? '';
  call.argumentsText += argumentsText;
}

/** One line, not too long. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxExcerpt ? line : `${line.slice(0, maxExcerpt)}…`;
}
