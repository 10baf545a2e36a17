/**
 * All options of the engine: one schema gives type, check, defaults and (through `cli/flags-from-schema.ts`) the flags
 * of the command line. `EngineConfig` is what the engine process gets: every value resolved, plain data.
 */
import * as z from 'zod';
import {speculativeConfigSchema} from './speculative-config.ts';
import {structuredOutputsConfigSchema} from './structured-outputs-config.ts';

const positiveInteger = z.int().min(1);

/** Options as given on the command line or by a caller; null means "choose for me". */
export const engineOptionsSchema = z.object({
  maxModelLen: positiveInteger.nullable().default(null).meta({
    description: 'Longest sequence (prompt and answer) in tokens; auto is what the model was trained for',
    group: 'ModelConfig',
    firstPage: true,
    fromModel: true,
  }),
  maxNumSeqs: positiveInteger.max(1024).default(32).meta({
    description: 'Most sequences that run at the same time',
    group: 'SchedulerConfig',
    firstPage: true,
  }),
  // With fewer than three a prompt cannot be cut without a trace in its numbers (scheduler/chunk-length.ts).
  maxNumBatchedTokens: z.int().min(3).default(256).meta({
    description:
      'Token budget of one step (at least 3): longer prompts are computed in chunks of at most this many tokens',
    group: 'SchedulerConfig',
  }),
  schedulingPolicy: z.enum(['fcfs', 'priority']).default('fcfs').meta({
    description: 'Order of waiting requests: first come first served, or lowest priority value first',
    group: 'SchedulerConfig',
  }),
  queueTimeoutSeconds: z.number().min(0).nullable().default(null).meta({
    flag: 'queue-timeout',
    description:
      'Longest time in seconds that a request may wait for its first step before it is refused with 503; the default is no limit',
    group: 'SchedulerConfig',
    valueName: 'SECONDS',
  }),
  speculativeConfig: speculativeConfigSchema.nullable().default(null).meta({
    description:
      'Draft tokens that have followed the same words before and check them in one step, such as {"method":"ngram","num_speculative_tokens":4}; pays where answers repeat their prompts, and changes no answer',
    group: 'SpeculativeConfig',
  }),
  structuredOutputsConfig: structuredOutputsConfigSchema.nullable().default(null).meta({
    description:
      'How answers are held to schemas and grammars, such as {"disable_any_whitespace":true}; further keys are disable_additional_properties and enable_in_reasoning (hold thoughts, too); every backend of vLLM is accepted and means the same',
    group: 'StructuredOutputsConfig',
  }),
  enablePrefixCaching: z.boolean().default(true).meta({
    description: 'Reuse the keys and values of prompts with a common beginning',
    group: 'CacheConfig',
  }),
  kvCacheBytes: positiveInteger
    .nullable()
    .default(null)
    .meta({
      flag: 'kv-cache-memory-bytes',
      aliases: ['kv-cache-memory'],
      description:
        'Memory for keys and values in bytes; the default is 40 % of what is free at start and not taken by weights',
      group: 'CacheConfig',
    }),
  gpuMemoryUtilization: z
    .number()
    .gt(0)
    .max(1)
    .nullable()
    .default(null)
    .meta({
      description:
        'Part of all memory (of the container, where there is one) that weights and cache may take together, 0 to 1; --kv-cache-memory-bytes goes before it',
      group: 'CacheConfig',
      aliases: ['device-memory-utilization'],
    }),
  numGpuBlocksOverride: positiveInteger.nullable().default(null).meta({
    description: 'Size of the cache in blocks of 16 tokens, whatever memory there is',
    group: 'CacheConfig',
    valueName: 'BLOCKS',
  }),
  device: z.enum(['auto', 'cpu', 'webgpu', 'cuda']).default('auto').meta({
    description:
      'Where the model runs; auto takes a GPU with memory of its own that computes rightly when tried, else the CPU, and says why',
    group: 'Engine',
    firstPage: true,
  }),
  threads: positiveInteger.max(512).nullable().default(null).meta({
    description: 'Threads of the forward pass; the default is the number of physical cores that this process may use',
    group: 'Engine',
  }),
  weightMapping: z.enum(['exact', 'rounded']).default('exact').meta({
    description:
      'How blocks with a minimum (Q4_1) are mapped: exactly as in the file, or with the minimum rounded to an integer zero point (faster, less exact)',
    group: 'Engine',
  }),
  activationPrecision: z.enum(['int8', 'float32']).default('int8').meta({
    description: 'Precision of activations in products with quantized weights; int8 is more than twice as fast',
    group: 'Engine',
  }),
  quantization: z.enum(['none', 'int8', 'int4']).default('none').meta({
    description:
      'How float weights of a Hugging Face folder are rounded on load: not at all, to 8 bits, or to 4 bits (embedding and head to 8), in blocks of 32; GGUF files stay as they are',
    group: 'ModelConfig',
  }),
  seed: z.int().min(0).default(0).meta({
    description: 'Base of the random seeds of requests that give none',
    group: 'ModelConfig',
  }),
  maxLogprobs: z.int().min(-1).default(20).meta({
    description: 'Most logprobs that a request may ask for at each token; -1 = all of the vocabulary',
    group: 'ModelConfig',
  }),
  logprobsMode: z
    .enum(['raw_logprobs', 'processed_logprobs', 'raw_logits', 'processed_logits'])
    .default('raw_logprobs')
    .meta({
      description:
        'What logprobs are made of: the numbers of the model, or those after penalties, temperature and filters; as logarithms of probabilities or as logits',
      group: 'ModelConfig',
    }),
  modelCacheDir: z.string().nullable().default(null).meta({
    description: 'Folder for built model graphs; the default is the cache folder of the user',
    group: 'LoadConfig',
    valueName: 'FOLDER',
  }),
});

export type EngineOptions = z.infer<typeof engineOptionsSchema>;

/** What the engine process is started with. */
export interface EngineConfig extends EngineOptions {
  /** Absolute path of the weights: a `.gguf` file, or a folder with `config.json` and safetensors. */
  modelPath: string;
}
