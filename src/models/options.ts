/** Options of `parlance models`, as data for flags, help, environment and configuration file. */
import * as z from 'zod';
import {modelSourceOptionsSchema} from '../core/config/model-source-options.ts';

const {revision, hfToken, downloadDir, dtype} = modelSourceOptionsSchema.shape;

export const modelActions = ['list', 'inspect', 'pull', 'remove'] as const;

export const modelsOptionsSchema = z.object({
  yes: z
    .boolean()
    .default(false)
    .meta({description: 'Remove without asking', group: 'Models', aliases: ['y'], firstPage: true}),
  revision: revision.meta({...revision.meta(), firstPage: true}),
  dtype: dtype.meta({...dtype.meta(), firstPage: true}),
  downloadDir: downloadDir.meta({...downloadDir.meta(), firstPage: true}),
  hfToken,
});

export type ModelsOptions = z.infer<typeof modelsOptionsSchema>;
