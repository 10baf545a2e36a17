/** Options of `parlance bench` that say what is measured: which server, which endpoint, which model. */
import * as z from 'zod';
import {inGroup} from './in-group.ts';

const target = inGroup('Target');

export const targetOptions = {
  backend: z
    .enum(['openai-chat', 'openai', 'vllm', 'http'])
    .default('openai-chat')
    .meta(
      target({
        description:
          'Kind of endpoint: streamed chat, streamed text completions (openai, vllm), or any endpoint that answers at once (http)',
      }),
    ),
  baseUrl: z
    .string()
    .nullable()
    .default(null)
    .meta(
      target({
        description:
          'Server to measure, e.g. http://127.0.0.1:8000. Without it and without --host and --port the one on port 8000 is taken; when none is there, the embedded model is started',
        aliases: ['url'],
        valueName: 'URL',
        firstPage: true,
      }),
    ),
  host: z
    .string()
    .nullable()
    .default(null)
    .meta(target({description: 'Host of the server, in place of --base-url; 127.0.0.1 when only the port is given'})),
  port: z
    .int()
    .min(1)
    .max(65535)
    .nullable()
    .default(null)
    .meta(target({description: 'Port of the server, in place of --base-url; 8000 when only the host is given'})),
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .meta(
      target({
        description: 'Path of the endpoint; /v1/chat/completions or /v1/completions by the backend',
        valueName: 'PATH',
      }),
    ),
  serve: z
    .string()
    .nullable()
    .default(null)
    .meta(
      target({
        description: 'Start our server with this model for the run, and stop it after',
        valueName: 'MODEL',
        firstPage: true,
      }),
    ),
  serveArgs: z
    .array(z.string())
    .default([])
    .meta(
      target({
        description: 'Arguments for the server that is started, e.g. --serve-args=--max-num-seqs=64',
        valueName: 'ARG...',
      }),
    ),
  model: z
    .string()
    .nullable()
    .default(null)
    .meta(
      target({description: 'Model that is named in requests; the first of /v1/models by default', firstPage: true}),
    ),
  servedModelName: z
    .string()
    .nullable()
    .default(null)
    .meta(target({description: 'Name of the model in requests where it is not the one for results'})),
  header: z
    .array(z.string())
    .default([])
    .meta(target({description: 'Headers of every request', valueName: 'NAME=VALUE...', secret: true})),
  apiKey: z
    .string()
    .nullable()
    .default(null)
    .meta(target({description: 'Key that is sent as bearer token', env: ['OPENAI_API_KEY'], secret: true})),
  insecure: z
    .boolean()
    .default(false)
    .meta(target({description: 'Accept any certificate of an HTTPS server'})),
  tokenizer: z
    .string()
    .nullable()
    .default(null)
    .meta(
      target({
        description:
          'Folder or id on the Hugging Face Hub whose tokenizer measures prompts; the server is asked without it',
        valueName: 'FOLDER|ID',
      }),
    ),
  skipTokenizerInit: z
    .boolean()
    .default(false)
    .meta(target({description: 'Use no tokenizer: lengths of generated prompts are estimates'})),
};
