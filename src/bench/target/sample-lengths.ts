/** Whether what is about to be sent fits into the context of the model, before anything is sent. */
import type {BenchSettings} from '../bench-settings.ts';
import type {Sample} from '../datasets/dataset.ts';
import {checkLengths, type Target} from './find-target.ts';

/** Their lengths are options, so a wrong one is a mistake of the command line. */
const generated: readonly BenchSettings['datasetName'][] = ['random', 'prefix_repetition', 'sonnet'];

/**
 * @returns a note when entries of a file are too long, which the server will refuse one by one
 * @throws UsageError when a generated prompt and its answer are too long
 */
export function checkSampleLengths(
  target: Target,
  datasetName: BenchSettings['datasetName'],
  samples: readonly Sample[],
): string[] {
  const {maxModelLen} = target;
  if (maxModelLen === null) return [];
  const lengths = samples.flatMap(({turns: [first]}) =>
    first.promptTokens === null ? [] : [{input: first.promptTokens, output: first.outputTokens ?? 0}],
  );
  const tooLong = lengths.filter(({input, output}) => input + output > maxModelLen);
  if (tooLong.length === 0) return [];
  if (generated.includes(datasetName)) checkLengths(target, tooLong[0]);
  return [
    `${tooLong.length} of ${samples.length} prompts and answers exceed the context of ${maxModelLen} tokens; the server may refuse them`,
  ];
}
