/** Options of the commands themselves: how they talk to the terminal and where their settings come from. */
import * as z from 'zod';
import type {OptionMeta} from './option-spec.ts';

const terminal = (meta: Omit<OptionMeta, 'group'>): OptionMeta & Record<string, unknown> => ({
  group: 'Terminal',
  ...meta,
});

export const terminalOptionsSchema = z.object({
  config: z
    .string()
    .nullable()
    .default(null)
    .meta(
      terminal({
        description: 'YAML file with flags by name; the command line wins',
        valueName: 'FILE',
        firstPage: true,
      }),
    ),
  showConfig: z
    .boolean()
    .default(false)
    .meta(terminal({description: 'Print every option with the place its value comes from, and exit'})),
  json: z
    .boolean()
    .default(false)
    .meta(terminal({description: 'Write results and errors to stdout as JSON, and nothing else'})),
  progress: z
    .boolean()
    .default(true)
    .meta(terminal({description: 'Show progress on stderr'})),
  logLevel: z
    .enum(['critical', 'error', 'warning', 'info', 'debug', 'trace'])
    .default('info')
    .meta(
      terminal({
        description: 'Least severe log lines that are shown; debug also shows the stack of errors',
        aliases: ['uvicorn-log-level'],
        env: ['VLLM_LOGGING_LEVEL'],
      }),
    ),
  logFormat: z
    .enum(['auto', 'text', 'json'])
    .default('auto')
    .meta(terminal({description: 'Form of log lines on stderr; auto is text in a terminal and json otherwise'})),
});

export type TerminalOptions = z.infer<typeof terminalOptionsSchema>;

/** Options of `parlance serve` that are about the process, not about the server. */
export const serveTerminalOptionsSchema = terminalOptionsSchema.extend({
  readyFile: z
    .string()
    .nullable()
    .default(null)
    .meta(
      terminal({
        description: 'Write a JSON file when the server is ready; it goes when the server stops',
        valueName: 'FILE',
      }),
    ),
});
