/** One JSON line for each request, with all moments and counts; written as requests end, so that a crash loses nothing. */
import {closeSync, openSync, writeSync} from 'node:fs';
import {UsageError} from '../../core/errors.ts';
import {writeFault} from '../../core/util/file-fault.ts';
import {gapsMs, latencyMs, numOutputTokens, timePerOutputTokenMs, timeToFirstTokenMs} from '../metrics.ts';
import {isSuccess, type RequestRecord} from '../request-record.ts';

export interface RequestLines {
  write(record: RequestRecord): void;
  close(): void;
}

/**
 * @param path null gives a writer that does nothing
 * @param onFault told once, when a line cannot be written; the run is worth more than the rest of the file
 * @throws UsageError when the file cannot be opened
 */
export function openRequestLines(path: string | null, onFault: (message: string) => void): RequestLines {
  if (path === null) return {write() {}, close() {}};
  const file = openFile(path);
  let isBroken = false;
  const write = (record: RequestRecord) => {
    if (isBroken) return;
    try {
      writeSync(file, `${JSON.stringify(requestLine(record))}\n`);
    } catch (error) {
      isBroken = true;
      onFault(`--save-requests ${path} ends early: ${writeFault(error)}`);
    }
  };
  return {write, close: () => closeSync(file)};
}

function openFile(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new UsageError(`--save-requests ${path} cannot be written: ${writeFault(cause)}`, {cause});
  }
}

function requestLine(record: RequestRecord) {
  const after = (moment: number | null) => (moment === null ? null : moment - record.sentMs);
  const isGood = isSuccess(record);
  return {
    index: record.index,
    request_id: record.requestId,
    id: record.sourceId,
    turn: record.turn,
    planned_ms: record.plannedMs,
    sent_ms: record.sentMs,
    headers_after_ms: after(record.headersMs),
    first_chunk_after_ms: after(record.firstChunkMs),
    first_after_ms: after(record.firstMs),
    first_answer_after_ms: after(record.firstAnswerMs),
    last_after_ms: after(record.lastMs),
    done_after_ms: after(record.doneMs),
    ended_after_ms: after(record.endedMs),
    ttft_ms: isGood ? timeToFirstTokenMs(record) : null,
    e2el_ms: isGood ? latencyMs(record) : null,
    tpot_ms: isGood ? timePerOutputTokenMs(record) : null,
    gaps_ms: gapsMs(record),
    chunk_tokens: record.chunkTokens,
    prompt_tokens: record.promptTokens,
    planned_prompt_tokens: record.plannedPromptTokens,
    completion_tokens: isGood ? numOutputTokens(record) : record.completionTokens,
    planned_completion_tokens: record.plannedOutputTokens,
    cached_tokens: record.cachedTokens,
    token_count_source: record.tokenCountSource,
    status: record.status,
    error_type: record.isCancelled ? 'cancelled' : (record.failure?.type ?? null),
    error: record.failure?.message ?? null,
    finish_reason: record.finishReason,
  };
}
