/** Options of `parlance parse-output`, as data for flags, help, environment and configuration file. */
import * as z from 'zod';

const formats = (meta: object) => ({group: 'Formats', ...meta});
const request = (meta: object) => ({group: 'Request', ...meta});
const output = (meta: object) => ({group: 'Output', ...meta});

const optionalText = () => z.string().nullable().default(null);

export const parseOutputOptionsSchema = z.object({
  toolCallParser: optionalText().meta(
    formats({
      description: 'Format of tool calls, e.g. hermes; auto recognises it from --chat-template',
      valueName: 'NAME',
      firstPage: true,
    }),
  ),
  reasoningParser: optionalText().meta(
    formats({
      description: 'Format of thoughts, e.g. qwen3; auto recognises it from --chat-template',
      valueName: 'NAME',
      firstPage: true,
    }),
  ),
  toolParserPlugin: optionalText().meta(
    formats({description: 'Module that adds formats for --tool-call-parser', valueName: 'FILE'}),
  ),
  reasoningParserPlugin: optionalText().meta(
    formats({description: 'Module that adds formats for --reasoning-parser', valueName: 'FILE'}),
  ),
  chatTemplate: optionalText().meta(
    formats({description: 'Chat template that gives the formats away, for auto', valueName: 'FILE'}),
  ),
  list: z
    .boolean()
    .default(false)
    .meta(formats({description: 'Name all formats and end', firstPage: true})),
  tools: optionalText().meta(
    request({
      description: 'JSON file with the list of tools, or a request that holds one; types of values come from it',
      valueName: 'FILE',
      firstPage: true,
    }),
  ),
  toolChoice: optionalText().meta(
    request({
      description: 'none, auto, required or the name of a tool; auto when there is a parser of calls',
      valueName: 'CHOICE',
    }),
  ),
  parallelToolCalls: z
    .boolean()
    .default(true)
    .meta(request({description: 'Keep all calls, not only the first'})),
  includeReasoning: z
    .boolean()
    .default(true)
    .meta(request({description: 'Keep thoughts'})),
  chatTemplateKwargs: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .meta(request({description: 'Variables of the template, e.g. {"enable_thinking": false}', format: 'json'})),
  promptTail: optionalText().meta(
    request({description: 'The end of the prompt, which may have opened or closed a thought', valueName: 'TEXT'}),
  ),
  finish: z
    .enum(['stop', 'length'])
    .default('stop')
    .meta(request({description: 'How the output ended: by itself, or cut off by a limit'})),
  stream: z
    .boolean()
    .default(false)
    .meta(output({description: 'Show the deltas that a stream would send', firstPage: true})),
  pieceLength: z
    .int()
    .min(1)
    .default(4)
    .meta(output({description: 'Characters of a piece that --stream reads at a time', valueName: 'N'})),
  batch: optionalText().meta(
    output({
      description: 'JSON lines in, JSON lines out: each line names its parser and its output; - is stdin',
      valueName: 'FILE',
      firstPage: true,
    }),
  ),
});

export type ParseOutputOptions = z.infer<typeof parseOutputOptionsSchema>;
