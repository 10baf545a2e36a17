/** The data set timed_trace: recorded arrival times and lengths; equal block ids become equal text. */
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {RandomSource} from '../load/random-source.ts';
import {type Dataset, type DatasetContext, type Sample, userTurn} from './dataset.ts';
import {mapInOrder} from './map-in-order.ts';
import {writeText} from './prompt-writer.ts';
import {readJsonLines} from './read-lines.ts';

interface TraceEntry {
  seconds: number;
  inputLength: number;
  outputLength: number;
  hashIds: number[];
}

export async function timedTraceDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, numSamples} = context;
  const lines = await readJsonLines(settings.datasetPath as string, z.looseObject({}));
  const entries = lines.map((line, index) => readEntry(line, index, settings)).sort((a, b) => a.seconds - b.seconds);
  const blocks = new Map<number, Promise<string>>();
  const samples = await mapInOrder(entries.slice(0, numSamples), (entry) =>
    toSample(entry, entries[0].seconds, context, blocks),
  );
  return {samples, ignoresEos: true, notes: []};
}

function readEntry(line: Record<string, unknown>, index: number, settings: DatasetContext['settings']): TraceEntry {
  const {timedTraceLabelTimestamp, timedTraceLabelInputLength, timedTraceLabelOutputLength, timedTraceLabelHashIds} =
    settings;
  const number = (label: string) => {
    const value = line[label];
    if (typeof value === 'number' && value >= 0) return value;
    throw new UsageError(`${settings.datasetPath}: entry ${index + 1} has no number ${label}`, {
      hint: 'other names of keys are given with --timed-trace-label-…',
    });
  };
  const hashIds = line[timedTraceLabelHashIds] ?? [];
  return {
    seconds: number(timedTraceLabelTimestamp) * settings.timedTraceSecMultiplier,
    inputLength: Math.max(1, number(timedTraceLabelInputLength)),
    outputLength: Math.max(1, number(timedTraceLabelOutputLength)),
    hashIds: Array.isArray(hashIds) ? hashIds.map(Number) : [],
  };
}

async function toSample(
  {seconds, inputLength, outputLength, hashIds}: TraceEntry,
  startSeconds: number,
  {settings, tokenizer}: DatasetContext,
  blocks: Map<number, Promise<string>>,
): Promise<Sample> {
  const blockText = (id: number) => {
    const made =
      blocks.get(id) ??
      writeText(tokenizer, {numTokens: settings.timedTraceChunkHashSize}, new RandomSource(id)).then(({text}) => text);
    blocks.set(id, made);
    return made;
  };
  const prefix = (await Promise.all(hashIds.map(blockText))).join('');
  const rest = new RandomSource(settings.seed ^ Math.round(seconds * 1e6));
  const {text, numTokens} = await writeText(tokenizer, {numTokens: inputLength, prefix}, rest);
  return {
    id: null,
    offsetSeconds: seconds - startSeconds,
    turns: [userTurn(text, {promptTokens: numTokens, outputTokens: settings.outputLen ?? outputLength})],
  };
}
