/**
 * An engine client that tells an observer about every sequence that passes. What the reader of a sequence does counts:
 * leaving the loop without an abort is how a stop string ends an output.
 */
import type {SequenceEnd, SequenceObserver, SequenceRecord} from '../../metrics/sequence-observer.ts';
import {nowMs} from '../../util/clock.ts';
import type {EngineRequest, SequenceOutput} from '../protocol.ts';
import type {EngineClient} from './engine-client.ts';

/** The same engine, watched. Closing it is closing the given one. */
export function observeEngine(engine: EngineClient, observer: SequenceObserver): EngineClient {
  return {
    info: engine.info,
    death: engine.death,
    generate: (request, options = {}) => watch(request, engine.generate(request, options), observer, options.signal),
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

async function* watch(
  request: EngineRequest,
  outputs: AsyncGenerator<SequenceOutput, void, undefined>,
  observer: SequenceObserver,
  signal: AbortSignal | undefined,
): AsyncGenerator<SequenceOutput, void, undefined> {
  const record = newRecord(request);
  let end: SequenceEnd | null = null;
  try {
    for await (const output of outputs) {
      const previousTokenMs = record.lastTokenMs;
      note(record, output);
      observer.onTokens(record, output.tokenTimesMs, previousTokenMs);
      end = output.finishReason;
      yield output;
    }
    end ??= 'abort';
  } catch (error) {
    end = 'error';
    throw error;
  } finally {
    record.end = end ?? (signal?.aborted ? 'abort' : 'stop');
    record.endedMs = nowMs();
    observer.onEnd(record);
  }
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
