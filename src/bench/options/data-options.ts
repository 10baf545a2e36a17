/** Options of `parlance bench` that say which prompts are sent. */
import * as z from 'zod';
import {inGroup} from './in-group.ts';

const data = inGroup('Data');

const tokens = (description: string, defaultValue: number) =>
  z
    .int()
    .min(0)
    .default(defaultValue)
    .meta(data({description, valueName: 'TOKENS'}));
const maybeTokens = (description: string, firstPage = false) =>
  z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .meta(data({description, valueName: 'TOKENS', firstPage}));

const datasetNames = [
  'random',
  'prefix_repetition',
  'sharegpt',
  'custom',
  'sonnet',
  'timed_trace',
  'multi_turn',
  'tools',
] as const;

export const dataOptions = {
  datasetName: z
    .enum(datasetNames)
    .default('random')
    .meta(data({description: 'Where prompts come from', firstPage: true})),
  datasetPath: z
    .string()
    .nullable()
    .default(null)
    .meta(data({description: 'File of the data set: JSON for sharegpt, JSONL for the others', valueName: 'FILE'})),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .nullable()
    .default(null)
    .meta(
      data({
        description:
          'Makes prompts and arrival times repeatable; a fresh number by default, so that no run measures the cache of the one before',
      }),
    ),
  inputLen: maybeTokens('Length of prompts, for whatever data set has one', true),
  outputLen: maybeTokens('Length of answers, for whatever data set has one', true),
  randomInputLen: maybeTokens('random: length of prompts; 1024, or 128 for a server that bench starts'),
  randomOutputLen: maybeTokens('random: length of answers; 128, or 64 for a server that bench starts'),
  randomRangeRatio: z
    .string()
    .default('0.0')
    .meta(
      data({
        description: 'random: lengths vary by this share, a number below 1 or {"input": 0.2, "output": 0.5}',
        valueName: 'NUMBER|JSON',
      }),
    ),
  randomPrefixLen: tokens('random: length of a beginning that all prompts share, on top of the input length', 0),
  randomPromptAsTokenIds: z
    .boolean()
    .default(false)
    .meta(data({description: 'random: send token ids in place of text (backend openai)'})),
  prefixRepetitionPrefixLen: tokens('prefix_repetition: length of a shared beginning', 256),
  prefixRepetitionSuffixLen: tokens('prefix_repetition: length of the rest', 256),
  prefixRepetitionNumPrefixes: z
    .int()
    .min(1)
    .default(10)
    .meta(data({description: 'prefix_repetition: how many beginnings'})),
  prefixRepetitionOutputLen: tokens('prefix_repetition: length of answers', 128),
  sharegptOutputLen: maybeTokens('sharegpt: length of answers; that of the recorded answer by default'),
  customOutputLen: z
    .int()
    .min(-1)
    .default(256)
    .meta(data({description: 'custom: length of answers; -1 takes output_tokens of each line', valueName: 'TOKENS'})),
  sonnetInputLen: tokens('sonnet: length of prompts', 550),
  sonnetOutputLen: tokens('sonnet: length of answers', 150),
  sonnetPrefixLen: tokens('sonnet: length of the shared beginning, within the prompt', 200),
  timedTraceLabelTimestamp: z
    .string()
    .default('timestamp')
    .meta(data({description: 'timed_trace: key of the time'})),
  timedTraceLabelInputLength: z
    .string()
    .default('input_length')
    .meta(data({description: 'timed_trace: key of the prompt length'})),
  timedTraceLabelOutputLength: z
    .string()
    .default('output_length')
    .meta(data({description: 'timed_trace: key of the answer length'})),
  timedTraceLabelHashIds: z
    .string()
    .default('hash_ids')
    .meta(data({description: 'timed_trace: key of the block ids'})),
  timedTraceChunkHashSize: z
    .int()
    .min(1)
    .default(16)
    .meta(data({description: 'timed_trace: tokens of a block', valueName: 'TOKENS'})),
  timedTraceSecMultiplier: z
    .number()
    .positive()
    .default(1)
    .meta(data({description: 'timed_trace: seconds of one unit of time, 0.001 for milliseconds'})),
  noOversample: z
    .boolean()
    .default(false)
    .meta(data({description: 'Send no entry twice, even when there are fewer than prompts'})),
  disableShuffle: z
    .boolean()
    .default(false)
    .meta(data({description: 'Keep the order of the file'})),
  skipChatTemplate: z
    .boolean()
    .default(false)
    .meta(data({description: 'Text prompts of a custom data set are sent as they are; so they are here in any case'})),
  multiTurn: z
    .int()
    .min(1)
    .default(1)
    .meta(data({description: 'Turns of each conversation; the real answers go back to the model', valueName: 'TURNS'})),
  turnDelayMs: z
    .number()
    .min(0)
    .default(0)
    .meta(data({description: 'Pause before each later turn', valueName: 'MS'})),
  keepReasoning: z
    .boolean()
    .default(false)
    .meta(data({description: 'Later turns carry the reasoning of earlier answers'})),
  toolChoice: z
    .string()
    .default('auto')
    .meta(data({description: 'tools: tool_choice of the requests, e.g. required'})),
};
