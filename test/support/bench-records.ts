/** Records of bench requests with chosen moments. */
import {openRecord, type PlannedRequest, type RequestRecord} from '../../src/bench/request-record.ts';

export function plannedRequest(fields: Partial<PlannedRequest> = {}): PlannedRequest {
  return {
    index: 0,
    requestId: 'bench-0',
    body: {},
    promptTokens: null,
    outputTokens: null,
    sourceId: null,
    turn: 0,
    cancelAfterEvents: null,
    ...fields,
  };
}

/** A whole answer, sent at 1000, with output events at the given times after that. */
export function answeredRecord(outputAfterMs: number[], fields: Partial<RequestRecord> = {}): RequestRecord {
  const sentMs = fields.sentMs ?? 1000;
  const outputTimesMs = outputAfterMs.map((after) => sentMs + after);
  const lastMs = outputTimesMs.at(-1) ?? sentMs;
  return {
    ...openRecord(plannedRequest(), sentMs, sentMs),
    headersMs: sentMs + 1,
    firstChunkMs: sentMs + 2,
    firstMs: outputTimesMs[0] ?? null,
    firstAnswerMs: outputTimesMs[0] ?? null,
    lastMs,
    endedMs: lastMs,
    outputTimesMs,
    chunkTokens: outputTimesMs.map(() => 1),
    status: 200,
    promptTokens: 10,
    completionTokens: outputTimesMs.length,
    tokenCountSource: 'usage',
    finishReason: 'stop',
    ...fields,
  };
}
