/** Loads the data set that was asked for, and brings it to the wanted number of samples, warm-ups apart. */
import {UsageError} from '../../core/errors.ts';
import type {BenchSettings} from '../bench-settings.ts';
import type {Dataset, DatasetContext, Sample} from './dataset.ts';
import {prefixRepetitionDataset, randomDataset, sonnetDataset} from './generated.ts';
import {customDataset, multiTurnDataset, sharegptDataset} from './recorded.ts';
import {timedTraceDataset} from './timed-trace.ts';
import {toolsDataset} from './tools.ts';

const loaders: Readonly<Record<BenchSettings['datasetName'], (context: DatasetContext) => Promise<Dataset>>> = {
  random: randomDataset,
  prefix_repetition: prefixRepetitionDataset,
  sharegpt: sharegptDataset,
  custom: customDataset,
  sonnet: sonnetDataset,
  timed_trace: timedTraceDataset,
  multi_turn: multiTurnDataset,
  tools: toolsDataset,
};

export interface LoadedData extends Omit<Dataset, 'samples'> {
  samples: Sample[];
  /** Other entries than the measured ones, as long as there are enough. */
  warmups: Sample[];
}

export async function loadDataset(context: DatasetContext, numWarmups: number): Promise<LoadedData> {
  const {settings, numSamples} = context;
  const {samples, ignoresEos, notes} = await loaders[settings.datasetName]({
    ...context,
    numSamples: numSamples + numWarmups,
  });
  const numSpare = Math.min(numWarmups, Math.max(0, samples.length - numSamples));
  const measured = samples.slice(0, samples.length - numSpare);
  if (measured.length === 0) throw new UsageError('The data set is empty');
  const warmups = repeated(numSpare > 0 ? samples.slice(-numSpare) : samples, numWarmups);
  // A recorded time belongs to one request; sending it again would be another trace.
  const canRepeat = !settings.noOversample && settings.datasetName !== 'timed_trace';
  const isShort = measured.length < numSamples;
  const shortNote = `The data set has ${measured.length} entries for ${numSamples} prompts; ${canRepeat ? 'they are sent again' : 'so many are sent'}`;
  return {
    samples: canRepeat ? repeated(measured, numSamples) : measured.slice(0, numSamples),
    warmups,
    ignoresEos,
    notes: isShort ? [...notes, shortNote] : notes,
  };
}

function repeated<T>(items: readonly T[], count: number): T[] {
  return Array.from({length: count}, (_, index) => items[index % items.length]);
}
