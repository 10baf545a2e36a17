/**
 * All options of `parlance bench` as one schema: type, defaults, and through `cli/flags-from-schema.ts` the flags. Names,
 * defaults and meaning are those of `vllm bench serve` where it has them. What is a list or may be infinite is a text
 * here; `bench-settings.ts` reads and checks it.
 */
import * as z from 'zod';
import {dataOptions} from './options/data-options.ts';
import {loadOptions} from './options/load-options.ts';
import {reportOptions} from './options/report-options.ts';
import {requestOptions} from './options/request-options.ts';
import {targetOptions} from './options/target-options.ts';

export const benchOptionsSchema = z.object({
  ...targetOptions,
  ...loadOptions,
  ...dataOptions,
  ...requestOptions,
  ...reportOptions,
});

export type BenchOptions = z.infer<typeof benchOptionsSchema>;
