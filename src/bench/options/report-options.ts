/** Options of `parlance bench` about figures, limits and what is written. */
import * as z from 'zod';
import {inGroup} from './in-group.ts';

const metrics = inGroup('Metrics');
const output = inGroup('Output');

const maybeFile = (description: string, valueName = 'FILE') =>
  z.string().nullable().default(null).meta(output({description, valueName}));

export const reportOptions = {
  percentileMetrics: z
    .string()
    .default('ttft,tpot,itl,e2el')
    .meta(
      metrics({
        description: 'Times with sections of their own: ttft, tpot, itl, e2el, also ttfc, ttfo, icl',
        valueName: 'NAMES',
      }),
    ),
  metricPercentiles: z
    .string()
    .default('99')
    .meta(metrics({description: 'Percentiles of these times, e.g. 50,95,99.9', valueName: 'NUMBERS'})),
  goodput: z
    .array(z.string())
    .default([])
    .meta(
      metrics({
        description: 'Limits in ms that a good request meets: ttft, tpot, e2el, itl, ttfo',
        valueName: 'NAME:MS...',
        firstPage: true,
      }),
    ),
  goodputMin: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .default(null)
    .meta(metrics({description: 'Exit with 3 when a smaller share of requests is good; 0.95 with --find-max-rate'})),
  assert: z
    .array(z.string())
    .default([])
    .meta(
      metrics({
        description: "Exit with 3 unless this is true of the result, e.g. 'p99_ttft_ms<500'",
        valueName: 'LIMIT...',
      }),
    ),
  label: z
    .string()
    .nullable()
    .default(null)
    .meta(output({description: 'Name of the run in results and file names', valueName: 'TEXT'})),
  saveResult: z
    .boolean()
    .default(false)
    .meta(output({description: 'Write the result as JSON, with the keys of vLLM', firstPage: true})),
  saveDetailed: z
    .boolean()
    .default(false)
    .meta(output({description: 'With times, texts and errors of every request'})),
  appendResult: z
    .boolean()
    .default(false)
    .meta(output({description: 'Add a line to the result file in place of a new file'})),
  metadata: z
    .array(z.string())
    .default([])
    .meta(output({description: 'Facts for the result file', valueName: 'NAME=VALUE...'})),
  resultDir: maybeFile('Folder of result files; it is made', 'FOLDER'),
  resultFilename: maybeFile('Name of the result file'),
  saveRequests: maybeFile('One JSON line for each request, written while it runs'),
  csv: maybeFile('Table with one row for each run'),
  html: maybeFile('Page with figures and plots that needs no network'),
  plotTimeline: z
    .boolean()
    .default(false)
    .meta(output({description: 'Write the page beside the result file'})),
  timelineItlThresholds: z
    .string()
    .default('25,50')
    .meta(output({description: 'Gaps in ms at which the timeline changes its colour', valueName: 'MS,MS'})),
  compare: z
    .array(z.string())
    .default([])
    .meta(output({description: 'Compare two result files, and run nothing', valueName: 'FILE FILE'})),
  quiet: z
    .boolean()
    .default(false)
    .meta(output({description: 'No notes and no table'})),
  disableTqdm: z
    .boolean()
    .default(false)
    .meta(output({description: 'Show no progress, as --no-progress'})),
};
