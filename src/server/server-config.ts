/**
 * All options of the HTTP side: one schema gives type, check, defaults, and through `cli/flags-from-schema.ts` the flags
 * of `parlance serve`. Names, defaults and meaning are those of `vllm serve`. Only options that work are here.
 */
import * as z from 'zod';
import type {DeploymentOptions} from '../core/config/deployment-options.ts';
import type {EngineOptions} from '../core/config/engine-config.ts';
import type {ModelSourceOptions} from '../core/config/model-source-options.ts';
import {parserOptionsShape} from './parser-options.ts';

const jsonObject = z.record(z.string(), z.unknown());
const textList = z.array(z.string());

/** An unset variable in a script leaves an empty key, which is none. */
const withoutEmpty = (keys: readonly string[]) => keys.filter((key) => key !== '');

/** Less than the 4 MiB of the reference: one client's headers are not to take that much memory. */
const DEFAULT_MAX_HEADER_BYTES = 256 * 1024;
/** Requests of up to this many bytes are read; the reference has no limit. */
const DEFAULT_MAX_BODY_BYTES = 256 * 1024 * 1024;

export const serverOptionsSchema = z.object({
  host: z.string().default('127.0.0.1').meta({
    description: 'Address to listen on; 0.0.0.0 opens the server to the network',
    group: 'Frontend',
    valueName: 'ADDRESS',
    firstPage: true,
  }),
  port: z.int().min(0).max(65535).default(8000).meta({
    description: 'Port to listen on; 0 picks a free one',
    group: 'Frontend',
    firstPage: true,
  }),
  uds: z.string().nullable().default(null).meta({
    description: 'Unix socket to listen on, in place of host and port',
    group: 'Frontend',
    valueName: 'PATH',
  }),
  rootPath: z.string().default('').meta({
    description: 'Path prefix under which a proxy offers this server, e.g. /llm',
    group: 'Frontend',
    valueName: 'PATH',
  }),
  sslKeyfile: z.string().nullable().default(null).meta({
    description: 'Private key (PEM); together with --ssl-certfile the server speaks HTTPS only',
    group: 'Frontend',
    valueName: 'FILE',
  }),
  sslCertfile: z.string().nullable().default(null).meta({
    description: 'Certificate (PEM), with the chain of its issuers',
    group: 'Frontend',
    valueName: 'FILE',
  }),
  sslCaCerts: z.string().nullable().default(null).meta({
    description: 'Certificates of issuers (PEM) that certificates of clients are checked with',
    group: 'Frontend',
    valueName: 'FILE',
  }),
  sslCertReqs: z.int().min(0).max(2).default(0).meta({
    description: 'Certificates of clients: 0 = not asked for, 1 = checked when there is one, 2 = required',
    group: 'Frontend',
  }),
  sslCiphers: z.string().nullable().default(null).meta({
    description: 'Allowed ciphers, as OpenSSL writes them',
    group: 'Frontend',
  }),
  enableSslRefresh: z.boolean().default(false).meta({
    description: 'Watch the files of --ssl-… and use new certificates without a restart',
    group: 'Frontend',
  }),
  h11MaxIncompleteEventSize: z.int().min(1024).default(DEFAULT_MAX_HEADER_BYTES).meta({
    description: 'Most bytes that the headers of a request may have',
    group: 'Frontend',
    valueName: 'BYTES',
  }),
  h11MaxHeaderCount: z.int().min(1).default(256).meta({
    description: 'Most headers that a request may have',
    group: 'Frontend',
  }),
  plugin: textList.default([]).meta({
    description: 'Modules that add routes, as files or packages',
    group: 'Frontend',
    valueName: 'MODULE...',
  }),
  apiKey: textList
    .default([])
    .transform(withoutEmpty)
    .meta({
      description: 'Keys of which a request under /v1 must carry one as bearer token; no key = no check',
      group: 'Frontend',
      env: ['VLLM_API_KEY'],
      secret: true,
      firstPage: true,
    }),
  servedModelName: z.array(z.string().trim().min(1, 'a name may not be empty')).default([]).meta({
    description: 'Names that requests may use for the model; answers carry the first one',
    group: 'ModelConfig',
    valueName: 'NAME...',
    firstPage: true,
  }),
  allowedOrigins: textList.default([]).meta({
    description: 'Origins whose pages may call the server, e.g. ["*"]',
    group: 'Frontend',
    format: 'json',
  }),
  allowedMethods: textList.default(['*']).meta({
    description: 'Methods that allowed origins may use',
    group: 'Frontend',
    format: 'json',
  }),
  allowedHeaders: textList.default(['*']).meta({
    description: 'Request headers that allowed origins may send',
    group: 'Frontend',
    format: 'json',
  }),
  allowCredentials: z.boolean().default(false).meta({
    description: 'Let allowed origins send cookies and authorization',
    group: 'Frontend',
  }),
  enableRequestIdHeaders: z.boolean().default(false).meta({
    description: 'Answer with an X-Request-Id header',
    group: 'Frontend',
  }),
  sseKeepAliveInterval: z.number().min(0).default(0).meta({
    description: 'Seconds of silence after which a stream gets a comment line; 0 = never',
    group: 'Frontend',
    valueName: 'SECONDS',
  }),
  enableForceIncludeUsage: z.boolean().default(false).meta({
    description: 'Report token counts in every stream, in each chunk and at the end',
    group: 'Frontend',
  }),
  enablePromptTokensDetails: z.boolean().default(false).meta({
    description: 'Report cached prompt tokens in usage',
    group: 'Frontend',
  }),
  enablePerRequestMetrics: z.boolean().default(false).meta({
    description: 'Report in answers with one choice where their time went',
    group: 'Frontend',
  }),
  returnTokensAsTokenIds: z.boolean().default(false).meta({
    description: 'Show tokens of logprobs as token_id:<id>, unless a request says otherwise',
    group: 'Frontend',
  }),
  enableTokenizerInfoEndpoint: z.boolean().default(false).meta({
    description: 'Answer GET /tokenizer_info with the configuration of the tokenizer',
    group: 'Frontend',
  }),
  fingerprintMode: z.enum(['full', 'hash', 'custom', 'none']).default('full').meta({
    description: 'What system_fingerprint says',
    group: 'Frontend',
  }),
  fingerprintValue: z.string().nullable().default(null).meta({
    description: 'Text of system_fingerprint with --fingerprint-mode custom',
    group: 'Frontend',
  }),
  maxNumQueuedReqs: z.int().min(0).nullable().default(null).meta({
    description: 'Most unfinished requests; further ones are refused with 503. The default is no limit',
    group: 'SchedulerConfig',
  }),
  maxNumQueuedTokens: z.int().min(0).nullable().default(null).meta({
    description:
      'Most prompt tokens of requests that wait for their first token; at the limit further requests are refused with 503. The default is no limit',
    group: 'SchedulerConfig',
  }),
  streamInterval: z.int().min(1).default(1).meta({
    description: 'Least tokens of a streamed chunk; the first and the last come at once',
    group: 'SchedulerConfig',
  }),
  responseRole: z.string().default('assistant').meta({
    description: 'Role of answers',
    group: 'Frontend',
  }),
  chatTemplate: z.string().nullable().default(null).meta({
    description:
      'Chat template as a file, as text, or a built-in one such as chatml; the default is the one of the model',
    group: 'Frontend',
    valueName: 'FILE|TEXT|NAME',
    firstPage: true,
  }),
  chatTemplateContentFormat: z.enum(['auto', 'string', 'openai']).default('auto').meta({
    description: 'Whether the template gets message content as text or as a list of parts',
    group: 'Frontend',
  }),
  trustRequestChatTemplate: z.boolean().default(false).meta({
    description: 'Accept chat templates that come with requests',
    group: 'Frontend',
  }),
  defaultChatTemplateKwargs: jsonObject.nullable().default(null).meta({
    description: 'Template variables for every request; a request may replace single ones',
    group: 'Frontend',
  }),
  reasoningEffortMap: jsonObject.nullable().default(null).meta({
    description: 'What templates get in place of a reasoning_effort, e.g. {"minimal": "low"}',
    group: 'Frontend',
  }),
  trustRequestMmKwargs: z.boolean().default(false).meta({
    description: 'Accept media_io_kwargs and mm_processor_kwargs in requests; a text model has no use for them',
    group: 'Frontend',
  }),
  excludeToolsWhenToolChoiceNone: z.boolean().default(false).meta({
    description: 'Keep the tools from the template when a request wants no tool call',
    group: 'Frontend',
  }),
  escapeControlTokens: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Control tokens that users write in messages, tools or documents, such as <|im_start|>, stay text and steer nothing',
      group: 'Frontend',
      aliases: ['escape-special-tokens'],
    }),
  ...parserOptionsShape,
  enableScaleOut: z.boolean().default(false).meta({
    description: 'Offer the routes that render requests and generate from token ids',
    group: 'Frontend',
  }),
  tokensOnly: z.boolean().default(false).meta({
    description: 'Like --enable-scale-out, with /abort_requests besides',
    group: 'Frontend',
  }),
  generationConfig: z.string().default('auto').meta({
    description: 'Where sampling defaults come from: auto (the file of the model), vllm (no file), or a folder',
    group: 'ModelConfig',
    firstPage: true,
  }),
  overrideGenerationConfig: jsonObject.nullable().default(null).meta({
    description: 'Sampling defaults that replace single ones of the generation config',
    group: 'ModelConfig',
  }),
  maxBodyBytes: z.int().min(1024).default(DEFAULT_MAX_BODY_BYTES).meta({
    description: 'Largest request body in bytes',
    group: 'Frontend',
  }),
  enableServerLoadTracking: z.boolean().default(false).meta({
    description: 'Count the requests in progress for /load',
    group: 'Frontend',
  }),
  disableFastapiDocs: z.boolean().default(false).meta({
    description: 'Offer no /openapi.json, /docs and /redoc',
    group: 'Frontend',
  }),
  disableLogStats: z.boolean().default(false).meta({
    description: 'Take no statistics: no throughput lines in the log, no vllm families under /metrics',
    group: 'Frontend',
  }),
  enableLogRequests: z.boolean().default(false).meta({
    description: 'Log each request when it arrives and when it ends, with its lengths but without its text',
    group: 'Frontend',
  }),
  enableLogOutputs: z.boolean().default(false).meta({
    description: 'Log the text of prompts and answers too; needs --enable-log-requests',
    group: 'Frontend',
  }),
  maxLogLen: z.int().min(0).nullable().default(null).meta({
    description: 'Most characters of a text in the log; the default is no limit',
    group: 'Frontend',
  }),
  logErrorStack: z.boolean().default(false).meta({
    description: 'Log the stack of every error that a client gets',
    group: 'Frontend',
  }),
  disableAccessLogForEndpoints: z.string().default('').meta({
    description: 'Paths without access log, separated by commas, e.g. /health,/metrics',
    group: 'Frontend',
    valueName: 'PATHS',
  }),
  disableUvicornAccessLog: z.boolean().default(false).meta({
    description: 'Log no line for each request',
    group: 'Frontend',
  }),
  shutdownTimeout: z.number().min(0).default(0).meta({
    description: 'Seconds that running requests may go on after a stop signal; 0 = end them at once',
    group: 'Frontend',
    valueName: 'SECONDS',
  }),
});

/** Checked options of the HTTP side. */
export type ServerOptions = z.infer<typeof serverOptionsSchema>;

/** Everything that `parlance serve` was told. */
export interface ServeOptions {
  /** Model as given on the command line; null = the embedded one. */
  model: string | null;
  /** Absent = the defaults. */
  source?: ModelSourceOptions;
  server: ServerOptions;
  engine: EngineOptions;
  /** Absent = one engine process. */
  deployment?: DeploymentOptions;
}
