/** Options of `parlance bench` that become fields of every request. */
import * as z from 'zod';
import {inGroup} from './in-group.ts';

const request = inGroup('Request');

const maybeNumber = (description: string) => z.number().nullable().default(null).meta(request({description}));

export const requestOptions = {
  extraBody: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .meta(request({description: 'Fields for the body of every request; wins over all other options'})),
  chatTemplateKwargs: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .meta(request({description: 'Variables for the chat template, e.g. {"enable_thinking": false}'})),
  ignoreEos: z
    .boolean()
    .default(false)
    .meta(request({description: 'Answers have their full length; on for generated prompts in any case'})),
  logprobs: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .meta(request({description: 'Ask for this many logprobs of each token'})),
  temperature: maybeNumber('Sampling temperature; without it the server decides'),
  topP: maybeNumber('Sampling: top_p'),
  topK: z
    .int()
    .nullable()
    .default(null)
    .meta(request({description: 'Sampling: top_k'})),
  minP: maybeNumber('Sampling: min_p'),
  frequencyPenalty: maybeNumber('Sampling: frequency_penalty'),
  presencePenalty: maybeNumber('Sampling: presence_penalty'),
  repetitionPenalty: maybeNumber('Sampling: repetition_penalty'),
  requestIdPrefix: z
    .string()
    .nullable()
    .default(null)
    .meta(request({description: 'Beginning of x-request-id; bench-<8 hex digits>- by default', valueName: 'TEXT'})),
  chunkUsage: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .meta(
      request({description: 'Ask for token counts in every event, which makes gaps be between tokens; auto tries it'}),
    ),
  wholeResponse: z
    .boolean()
    .default(false)
    .meta(request({description: 'Ask for answers in one piece; needs --backend http'})),
};
