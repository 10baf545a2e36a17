/**
 * Options that say where a model comes from and which of its files are meant: revision, token and folder for the Hugging
 * Face Hub, and the data type of an exported graph. Variables of the environment that are no options (`HF_HOME`,
 * `HF_ENDPOINT`, `HF_HUB_OFFLINE`) are read in `model/hub/hub-settings.ts`.
 */
import * as z from 'zod';

/** Data types of graphs in the Transformers.js layout, and the names that vLLM has for two of them. */
const dtypeNames = [
  'auto',
  'fp32',
  'fp16',
  'q8',
  'int8',
  'uint8',
  'q4',
  'q4f16',
  'bnb4',
  'float32',
  'float',
  'float16',
  'half',
] as const;

export type DtypeName = (typeof dtypeNames)[number];

export const modelSourceOptionsSchema = z.object({
  revision: z.string().nullable().default(null).meta({
    description: 'Branch, tag or commit of a model on the Hugging Face Hub; the default is main',
    group: 'ModelConfig',
    valueName: 'NAME',
  }),
  hfToken: z
    .string()
    .nullable()
    .default(null)
    .meta({
      description:
        'Token for models on the Hub that are not open to everybody; the default is what `hf auth login` kept',
      group: 'ModelConfig',
      env: ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'],
      secret: true,
      valueName: 'TOKEN',
    }),
  downloadDir: z.string().nullable().default(null).meta({
    description:
      'Folder for downloaded models, in the layout of the Hub; the default is the one of HF_HUB_CACHE or HF_HOME',
    group: 'LoadConfig',
    valueName: 'FOLDER',
  }),
  dtype: z.enum(dtypeNames).default('auto').meta({
    description:
      'Which graph of a model in the Transformers.js layout is taken (fp32, fp16, q8, q4, q4f16, …); other models are computed in float32',
    group: 'ModelConfig',
  }),
});

export type ModelSourceOptions = z.infer<typeof modelSourceOptionsSchema>;
