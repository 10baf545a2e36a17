/** Options of `parlance bench` that say how many requests are sent, when, and how long each may take. */
import * as z from 'zod';
import {inGroup} from './in-group.ts';

const load = inGroup('Load');

const seconds = (description: string, defaultValue: number) =>
  z
    .number()
    .min(0)
    .default(defaultValue)
    .meta(load({description, valueName: 'SECONDS'}));

export const loadOptions = {
  numPrompts: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .meta(
      load({
        description: 'Requests to send (conversations with several turns); max(100, 4 x concurrency) by default',
        firstPage: true,
      }),
    ),
  maxConcurrency: z
    .string()
    .nullable()
    .default(null)
    .meta(
      load({
        description: 'Most requests in flight; several numbers, as in 1,2,4,8, are a sweep',
        aliases: ['concurrency'],
        valueName: 'N[,N...]',
        firstPage: true,
      }),
    ),
  requestRate: z
    .string()
    .default('inf')
    .meta(
      load({
        description: 'Requests per second; inf sends at once what concurrency allows; several numbers are a sweep',
        valueName: 'RATE[,RATE...]',
        firstPage: true,
      }),
    ),
  burstiness: z
    .string()
    .default('1.0')
    .meta(
      load({
        description: 'Shape of the gaps between requests: 1 = Poisson, less = bursts, more = even, inf = constant',
        valueName: 'NUMBER',
      }),
    ),
  rampUpStrategy: z
    .enum(['linear', 'exponential'])
    .nullable()
    .default(null)
    .meta(load({description: 'Let the rate go from --ramp-up-start-rps to --ramp-up-end-rps over the run'})),
  rampUpStartRps: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .meta(load({description: 'Rate of the first request'})),
  rampUpEndRps: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .meta(load({description: 'Rate of the last request'})),
  strictRequestRate: z
    .boolean()
    .default(false)
    .meta(load({description: 'Keep the planned gaps between sends also after a place was waited for'})),
  selfTimed: z
    .boolean()
    .default(true)
    .meta(load({description: 'Send a timed_trace at its recorded times; without it the rate counts'})),
  findMaxRate: z
    .boolean()
    .default(false)
    .meta(load({description: 'Look for the highest rate at which --goodput-min of the requests meet --goodput'})),
  duration: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .meta(
      load({
        description: 'Stop sending after this time; the data is used again when it ends',
        valueName: 'SECONDS',
        firstPage: true,
      }),
    ),
  gracePeriod: seconds('How long requests in flight may go on when sending has ended early', 30),
  numWarmups: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .meta(load({description: 'Requests before the run that are not counted; 1 with a ready check, else 0'})),
  readyCheckTimeoutSec: seconds('How long to wait for the server to answer; 0 = not at all', 0),
  probeRequestRate: z
    .number()
    .min(0)
    .default(0)
    .meta(
      load({
        description:
          'Requests of one token a second beside the load, outside of --max-concurrency, with figures of their own: how the load holds up others',
        valueName: 'RATE',
      }),
    ),
  requestCancellationRate: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .meta(load({description: 'Share of the requests that are given up while they stream'})),
  requestTimeout: seconds('Limit of a whole request; 0 = none', 3600),
  ttftTimeout: seconds('Limit until the first output; 0 = none', 0),
  idleTimeout: seconds('Limit between two reads; 0 = none', 0),
  clientWorkers: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .meta(load({description: 'Threads that send; auto is one, and from 128 streams one for each 256'})),
  numRuns: z
    .int()
    .min(1)
    .default(1)
    .meta(load({description: 'Runs of each point of a sweep'})),
};
