/** Options of `parlance render-template`, as data for flags, help, environment and configuration file. */
import * as z from 'zod';

const input = (meta: object) => ({group: 'Input', ...meta});
const template = (meta: object) => ({group: 'Template', ...meta});
const output = (meta: object) => ({group: 'Output', ...meta});

const optionalText = () => z.string().nullable().default(null);

export const renderTemplateOptionsSchema = z.object({
  message: z
    .array(z.string())
    .default([])
    .meta(
      input({
        description: "A message as ROLE=TEXT or 'ROLE: TEXT'; may be repeated",
        valueName: 'ROLE=TEXT',
        aliases: ['m'],
        firstPage: true,
      }),
    ),
  system: optionalText().meta(input({description: 'A system message in front of the others'})),
  messages: optionalText().meta(
    input({
      description: 'JSON file with a list of messages or a whole request; - is stdin',
      valueName: 'FILE',
      firstPage: true,
    }),
  ),
  tools: optionalText().meta(
    input({description: 'JSON file with a list of tools', valueName: 'FILE', firstPage: true}),
  ),
  documents: optionalText().meta(input({description: 'JSON file with a list of documents', valueName: 'FILE'})),
  chatTemplateKwargs: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .meta(input({description: 'Variables for the template', format: 'json', firstPage: true})),
  addGenerationPrompt: z
    .boolean()
    .default(true)
    .meta(input({description: 'Open the turn of the assistant at the end'})),
  continueFinalMessage: z
    .boolean()
    .default(false)
    .meta(input({description: 'Leave the last message open, in place of a new turn'})),
  date: optionalText().meta(
    input({description: 'The time that the template sees, e.g. 2026-01-31 or 2026-01-31T12:00', valueName: 'DATE'}),
  ),
  chatTemplate: optionalText().meta(
    template({
      description: 'A template as a file or as text, or the name of one of the model or a built-in one such as chatml',
      valueName: 'FILE|TEXT|NAME',
      firstPage: true,
    }),
  ),
  templateName: optionalText().meta(
    template({description: 'One of several templates of the model, e.g. tool_use', valueName: 'NAME'}),
  ),
  chatTemplateContentFormat: z
    .enum(['auto', 'string', 'openai'])
    .default('auto')
    .meta(template({description: 'Whether the template gets message content as text or as a list of parts'})),
  url: optionalText().meta(
    input({description: 'A running server that renders in place of this command', valueName: 'URL'}),
  ),
  escapeControlTokens: z
    .boolean()
    .default(false)
    .meta(template({description: 'Control tokens that stand in messages stay text, as on a server with this flag'})),
  list: z
    .boolean()
    .default(false)
    .meta(template({description: 'List the templates of the model', firstPage: true})),
  text: z
    .boolean()
    .default(false)
    .meta(output({description: 'The exact text and nothing else, also in a terminal'})),
  whitespace: z
    .boolean()
    .default(false)
    .meta(output({description: 'Make blanks, tabs and line ends visible', firstPage: true})),
  ids: z
    .boolean()
    .default(false)
    .meta(output({description: 'Only the token ids, as a JSON list'})),
  tokens: z
    .boolean()
    .default(false)
    .meta(output({description: 'A table of the tokens', firstPage: true})),
  spans: z
    .boolean()
    .default(false)
    .meta(output({description: 'Where each message stands, and how many tokens it takes', firstPage: true})),
  vars: z
    .boolean()
    .default(false)
    .meta(output({description: 'The variables that the template reads, and which of them have a value'})),
  mask: z
    .boolean()
    .default(false)
    .meta(output({description: 'Underline what the generation blocks of the template write'})),
  check: z
    .boolean()
    .default(false)
    .meta(
      output({description: 'Warn of what looks wrong: doubled BOS, control tokens in messages, unstable prefixes'}),
    ),
  analyze: z
    .boolean()
    .default(false)
    .meta(output({description: 'What the template can do, and the parsers that fit it', firstPage: true})),
  diff: optionalText().meta(
    output({
      description:
        'Compare with another rendering: tools (without them), generation-prompt (without it), template=FILE, ' +
        'kwargs.NAME=VALUE, or url (the server of --url); exit code 3 when they differ',
      valueName: 'WHAT',
      firstPage: true,
    }),
  ),
  watch: z
    .boolean()
    .default(false)
    .meta(output({description: 'Render again whenever a file changes'})),
  batch: optionalText().meta(
    output({
      description:
        'Render every row of a file of JSON lines, for tests in CI; exit code 3 when a row misses what it expects',
      valueName: 'FILE',
    }),
  ),
});

export type RenderTemplateOptions = z.infer<typeof renderTemplateOptionsSchema>;
