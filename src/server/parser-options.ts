/** Options about reading answers: which parsers tell thoughts and tool calls from text, and how they are shown. */
import * as z from 'zod';

export const parserOptionsShape = {
  enableAutoToolChoice: z.boolean().default(false).meta({
    description: 'Let the model call tools by itself; needs --tool-call-parser',
    group: 'Frontend',
  }),
  toolCallParser: z.string().nullable().default(null).meta({
    description: 'Format of tool calls, e.g. hermes; auto recognises it from the chat template and needs no other flag',
    group: 'Frontend',
    valueName: 'NAME',
  }),
  toolParserPlugin: z.string().nullable().default(null).meta({
    description: 'Module that adds formats for --tool-call-parser',
    group: 'Frontend',
    valueName: 'FILE',
  }),
  toolStrictLevel: z.enum(['auto', 'function', 'parameter']).nullable().default(null).meta({
    description:
      'What a model may write as a tool call: anything (auto), calls of the given functions, or calls that fit their parameters, too; the default is up to the format',
    group: 'Frontend',
  }),
  reasoningParser: z.string().nullable().default(null).meta({
    description: 'Format of thoughts, e.g. qwen3; auto recognises it from the chat template, none reads none',
    group: 'Frontend',
    valueName: 'NAME',
  }),
  reasoningParserPlugin: z.string().nullable().default(null).meta({
    description: 'Module that adds formats for --reasoning-parser',
    group: 'Frontend',
    valueName: 'FILE',
  }),
  reasoningContent: z.boolean().default(false).meta({
    description: 'Send thoughts under the older name reasoning_content, too',
    group: 'Frontend',
  }),
  stopSparesReasoning: z.boolean().default(false).meta({
    description: 'Stop strings end the answer only, not a thought; a request may say otherwise (stop_spares_reasoning)',
    group: 'Frontend',
  }),
} as const;
