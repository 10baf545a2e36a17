/** Options of `parlance chat`, as data for flags, help, environment and configuration file. Names are those of vLLM where it has them. */
import * as z from 'zod';
import {engineOptionsSchema} from '../core/config/engine-config.ts';
import {modelSourceOptionsSchema} from '../core/config/model-source-options.ts';

const inGroup =
  (group: string) =>
  (meta: object): Record<string, unknown> => ({group, ...meta});
const target = inGroup('Target');
const message = inGroup('Message');
const sampling = inGroup('Sampling');
const tooling = inGroup('Tools');
const session = inGroup('Session');
const screen = inGroup('Screen');

const optionalText = () => z.string().nullable().default(null);
const optionalNumber = () => z.number().nullable().default(null);
const optionalInteger = () => z.int().nullable().default(null);
const optionalObject = () => z.record(z.string(), z.unknown()).nullable().default(null);

const targetOptions = {
  url: optionalText().meta(
    target({
      description: 'Server to talk to, e.g. http://127.0.0.1:8000/v1; without it a model is started in this machine',
      env: ['OPENAI_BASE_URL'],
      firstPage: true,
    }),
  ),
  modelName: optionalText().meta(
    target({description: 'Model to ask the server for; the first of /v1/models by default', valueName: 'NAME'}),
  ),
  apiKey: optionalText().meta(
    target({description: 'Key that is sent as bearer token', env: ['OPENAI_API_KEY'], secret: true}),
  ),
};

const messageOptions = {
  quick: optionalText().meta(
    message({
      description: 'Send this message, print the answer and leave; piped text is added below it',
      aliases: ['q'],
      valueName: 'MESSAGE',
      firstPage: true,
    }),
  ),
  systemPrompt: optionalText().meta(message({description: 'System message', firstPage: true})),
  systemFile: optionalText().meta(message({description: 'Text file with the system message', valueName: 'FILE'})),
  file: z
    .array(z.string())
    .default([])
    .meta(message({description: 'Text files that go with the first message', valueName: 'FILE...'})),
};

const samplingOptions = {
  temperature: optionalNumber().meta(sampling({description: 'Randomness; 0 always takes the most likely token'})),
  topP: optionalNumber().meta(sampling({description: 'Sample from the most likely tokens of this total probability'})),
  topK: optionalInteger().meta(sampling({description: 'Sample from this many most likely tokens'})),
  minP: optionalNumber().meta(sampling({description: 'Least probability in relation to the most likely token'})),
  maxTokens: optionalInteger().meta(sampling({description: 'Longest answer in tokens'})),
  seed: optionalInteger().meta(sampling({description: 'Same seed, same answer'})),
  extraBody: optionalObject().meta(sampling({description: 'Further fields of every request', format: 'json'})),
  chatTemplateKwargs: optionalObject().meta(sampling({description: 'Variables for the chat template', format: 'json'})),
};

const toolOptions = {
  tools: z
    .array(z.string())
    .default([])
    .meta(
      tooling({
        description:
          'Tools the model may call: names of built-in ones, safe (get_time, calculator, read_file, list_dir), or a JSON file that declares commands',
        valueName: 'NAME|FILE...',
        firstPage: true,
      }),
    ),
  toolApproval: z
    .enum(['ask', 'auto', 'never'])
    .default('ask')
    .meta(tooling({description: 'Ask before each call, run calls without asking, or refuse them all'})),
  yesIKnow: z
    .boolean()
    .default(false)
    .meta(tooling({description: 'With --tool-approval auto: run commands and write files without asking, too'})),
  mcpConfig: optionalText().meta(
    tooling({description: 'JSON file with MCP servers under mcpServers', valueName: 'FILE'}),
  ),
  toolCallParser: z
    .string()
    .default('auto')
    .meta(tooling({description: 'Format of tool calls of a model in this machine', valueName: 'NAME'})),
  reasoningParser: z
    .string()
    .default('auto')
    .meta(tooling({description: 'Format of thoughts of a model in this machine', valueName: 'NAME'})),
  maxToolRounds: z
    .int()
    .min(1)
    .default(10)
    .meta(tooling({description: 'Most times that results of tools go back to the model in one turn'})),
};

const sessionOptions = {
  session: optionalText().meta(session({description: 'Name of the session to write', valueName: 'NAME'})),
  resume: optionalText().meta(
    session({
      description: 'Go on with a stored session, by its name or the beginning of its id; without one they are listed',
      valueName: 'ID',
      bareValue: '?',
    }),
  ),
  continue: z
    .boolean()
    .default(false)
    .meta(session({description: 'Go on with the newest session', aliases: ['c']})),
  save: z
    .boolean()
    .default(true)
    .meta(session({description: 'Keep the talk as a file; --no-save keeps nothing'})),
};

const screenOptions = {
  reasoning: z
    .enum(['show', 'fold', 'hide'])
    .default('fold')
    .meta(screen({description: 'What is shown of the thoughts of the model', firstPage: true})),
  stats: z
    .boolean()
    .default(false)
    .meta(screen({description: 'Print tokens and speed after each answer'})),
  tui: z
    .boolean()
    .default(true)
    .meta(screen({description: 'Draw a screen; --no-tui reads and writes plain lines'})),
  theme: z
    .enum(['auto', 'dark', 'light', 'none'])
    .default('auto')
    .meta(screen({description: 'Colours of the screen'})),
  raw: z
    .boolean()
    .default(false)
    .meta(screen({description: 'Show answers as they come, without reading Markdown'})),
  stream: z
    .boolean()
    .default(false)
    .meta(screen({description: 'With --json: one JSON line per event in place of one object'})),
};

const {maxModelLen, device, threads, kvCacheBytes, activationPrecision, modelCacheDir} = engineOptionsSchema.shape;

export const chatOptionsSchema = z.object({
  ...targetOptions,
  ...messageOptions,
  ...samplingOptions,
  ...toolOptions,
  ...sessionOptions,
  ...screenOptions,
  ...modelSourceOptionsSchema.shape,
  maxModelLen,
  device,
  threads,
  kvCacheBytes,
  activationPrecision,
  modelCacheDir,
});

export type ChatOptions = z.infer<typeof chatOptionsSchema>;
