/**
 * An engine client that tells an observer about every sequence that passes. What the reader of a sequence does counts:
 * leaving the loop without an abort is how a stop string ends an output.
 */
import type {SequenceEnd, SequenceObserver, SequenceRecord} from '../../metrics/sequence-observer.ts';
import {nowMs} from '../../util/clock.ts';
import type {ItemStream} from '../../util/item-stream.ts';
import {type StreamEnd, tapStream} from '../../util/tap-stream.ts';
import type {EngineRequest, SequenceOutput} from '../protocol.ts';
import type {EngineClient} from './engine-client.ts';

/** The same engine, watched. Closing it is closing the given one. */
export function observeEngine(engine: EngineClient, observer: SequenceObserver): EngineClient {
  return {
    info: engine.info,
    death: engine.death,
    generate: (request, options = {}) =>
      watch(request, () => engine.generate(request, options), observer, options.signal),
    isAlive: () => engine.isAlive(),
    engineStates: () => engine.engineStates(),
    numOpenRequests: () => engine.numOpenRequests(),
    numBacklogTokens: () => engine.numBacklogTokens(),
    resetPrefixCache: () => engine.resetPrefixCache(),
    provideVocabulary: (make) => engine.provideVocabulary(make),
    onStats: (listener) => engine.onStats(listener),
    close: () => engine.close(),
  };
}

type Outputs = ItemStream<SequenceOutput>;

function watch(
  request: EngineRequest,
  open: () => Outputs,
  observer: SequenceObserver,
  signal: AbortSignal | undefined,
): Outputs {
  const record = newRecord(request);
  let finishReason: SequenceOutput['finishReason'] = null;
  return tapStream(open, {
    onItem: (output) => {
      const previousTokenMs = record.lastTokenMs;
      note(record, output);
      observer.onTokens(record, output.tokenTimesMs, previousTokenMs);
      finishReason = output.finishReason;
    },
    onEnd: (end) => {
      record.end = sequenceEnd(end, finishReason, signal);
      record.endedMs = nowMs();
      observer.onEnd(record);
    },
  });
}

/** Leaving without an abort is how a stop string ends an output. */
function sequenceEnd(
  {type}: StreamEnd,
  finishReason: SequenceOutput['finishReason'],
  signal: AbortSignal | undefined,
): SequenceEnd {
  if (type === 'failed') return 'error';
  if (finishReason !== null) return finishReason;
  return type === 'done' || signal?.aborted ? 'abort' : 'stop';
}

function newRecord({requestId, promptTokenIds, sampling, choiceOf}: EngineRequest): SequenceRecord {
  const arrivedMs = nowMs();
  return {
    requestId,
    numPromptTokens: promptTokenIds.length,
    numCachedTokens: null,
    numOutputTokens: 0,
    engineIndex: 0,
    maxTokens: sampling.maxTokens,
    numPreemptions: 0,
    choiceOf: choiceOf ?? null,
    arrivedMs,
    queuedMs: null,
    scheduledMs: null,
    firstTokenMs: null,
    lastTokenMs: null,
    endedMs: arrivedMs,
    end: 'abort',
  };
}

function note(
  record: SequenceRecord,
  {newTokenIds, numCachedTokens, tokenTimesMs, start, numPreemptions, engineIndex}: SequenceOutput,
) {
  record.numOutputTokens += newTokenIds.length;
  record.engineIndex = engineIndex ?? 0;
  record.numCachedTokens ??= numCachedTokens;
  record.numPreemptions = numPreemptions;
  record.queuedMs ??= start?.queuedMs ?? null;
  record.scheduledMs ??= start?.scheduledMs ?? null;
  record.firstTokenMs ??= tokenTimesMs[0] ?? null;
  record.lastTokenMs = tokenTimesMs.at(-1) ?? record.lastTokenMs;
}
