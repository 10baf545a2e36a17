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
  dataParallelSizeLocal: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .meta({
      description:
        'How many of the engines of --data-parallel-size run here: all of them; engines of other machines are servers of their own behind --engine-url',
      group: 'ParallelConfig',
      aliases: ['dpl'],
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
  engineTimeoutSeconds: z.number().min(1).default(3600).meta({
    flag: 'engine-timeout',
    description:
      'Seconds without a token after which a request to a server of --engine-url is given up; one that no longer answers is noticed by its /health before',
    group: 'Engine',
    valueName: 'SECONDS',
  }),
});

export type DeploymentOptions = z.infer<typeof deploymentOptionsSchema>;

/** One engine process. */
export const singleEngine: DeploymentOptions = deploymentOptionsSchema.parse({});

/** @throws UsageError when options contradict each other */
export function checkDeployment(options: DeploymentOptions): void {
  checkLocalSize(options);
  if (options.engine === 'vllm') checkVllm(options);
  else if (options.engineUrl.length > 0 || options.engineApiKey !== null) {
    throw new UsageError('--engine-url and --engine-api-key are for --engine vllm only.');
  }
}

function checkLocalSize({dataParallelSize, dataParallelSizeLocal}: DeploymentOptions): void {
  if (dataParallelSizeLocal === null || dataParallelSizeLocal === dataParallelSize) return;
  throw new UsageError(
    `--data-parallel-size-local ${dataParallelSizeLocal} differs from --data-parallel-size ${dataParallelSize}, but all engines run on this machine.`,
    {
      hint: 'Start a server on each machine with --enable-scale-out, and one in front of them with --engine vllm --engine-url.',
    },
  );
}

function checkVllm({engineUrl, dataParallelSize}: DeploymentOptions): void {
  if (engineUrl.length === 0) {
    throw new UsageError('--engine vllm needs the address of a vLLM server.', {
      hint: 'For example --engine-url http://127.0.0.1:8001',
    });
  }
  if (dataParallelSize > 1) {
    throw new UsageError('--data-parallel-size starts engines on this machine and cannot be used with --engine vllm.', {
      hint: 'Name several addresses with --engine-url instead.',
    });
  }
  const addresses = engineUrl.map(parseAddress);
  const repeated = engineUrl.find((_, index) => addresses.indexOf(addresses[index]!) < index);
  if (repeated !== undefined) throw new UsageError(`--engine-url names ${repeated} twice.`);
}

/** @returns its normal form */
function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`--engine-url ${text} is not an http:// or https:// address.`, {
      hint: 'A list flag takes every value up to the next flag; a model stands in front of it.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`--engine-url with a user name (at ${url.host}) is not supported.`, {
      hint: 'The key of the servers is given with --engine-api-key.',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    throw new UsageError(`--engine-url ${text} has a query or a fragment; routes are put behind its path.`);
  }
  return url.href.replace(/\/+$/, '');
}
