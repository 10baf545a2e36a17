/**
 * Where the engine runs and how many there are: one process of this machine, several of them, or an existing vLLM
 * deployment. Apart from the options of an engine, which mean the same wherever it runs.
 */
import * as z from 'zod';
import {UsageError} from '../errors.ts';

export const deploymentOptionsSchema = z.object({
  dataParallelSize: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .meta({
      description:
        'Engine processes on this machine, each with its own copy of the model; requests go to the one that knows most of their prompt or has least to do',
      group: 'ParallelConfig',
      aliases: ['dp'],
    }),
  engine: z.enum(['onnx', 'vllm']).default('onnx').meta({
    description: 'Who runs the model: this program with ONNX Runtime, or vLLM servers that --engine-url names',
    group: 'Engine',
  }),
  engineUrl: z.array(z.string()).default([]).meta({
    description:
      'Addresses of vLLM servers with the same model, started with --enable-scale-out; requests are spread over them',
    group: 'Engine',
    valueName: 'URL...',
  }),
  engineApiKey: z.string().nullable().default(null).meta({
    description: 'Key that the servers of --engine-url ask for',
    group: 'Engine',
    secret: true,
    valueName: 'KEY',
  }),
  engineTimeoutSeconds: z.number().min(1).default(300).meta({
    flag: 'engine-timeout',
    description: 'Seconds without a sign of life after which a request to a server of --engine-url is given up',
    group: 'Engine',
    valueName: 'SECONDS',
  }),
});

export type DeploymentOptions = z.infer<typeof deploymentOptionsSchema>;

/** One engine process. */
export const singleEngine: DeploymentOptions = deploymentOptionsSchema.parse({});

/** @throws UsageError when options contradict each other */
export function checkDeployment({engine, engineUrl, engineApiKey, dataParallelSize}: DeploymentOptions): void {
  if (engine === 'vllm') {
    if (engineUrl.length === 0) {
      throw new UsageError('--engine vllm needs the address of a vLLM server.', {
        hint: 'For example --engine-url http://127.0.0.1:8001',
      });
    }
    if (dataParallelSize > 1) {
      throw new UsageError(
        '--data-parallel-size starts engines on this machine and cannot be used with --engine vllm.',
        {
          hint: 'Name several addresses with --engine-url instead.',
        },
      );
    }
    engineUrl.forEach(checkUrl);
    return;
  }
  if (engineUrl.length > 0 || engineApiKey !== null) {
    throw new UsageError('--engine-url and --engine-api-key are for --engine vllm only.');
  }
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol)) return;
  throw new UsageError(`--engine-url ${text} is not an http:// or https:// address.`, {
    hint: 'A list flag takes every value up to the next flag; a model stands in front of it.',
  });
}
