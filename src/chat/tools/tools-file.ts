/**
 * Tools of one's own, declared in a JSON file: a list (or `{"tools": [...]}`) of `{name, description, parameters, command}`.
 * The command gets the arguments as JSON on stdin, and what it prints is the result.
 */
import {readFile} from 'node:fs/promises';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {readFault} from '../../core/util/file-fault.ts';
import {runCommand} from './run-command.ts';
import type {Tool} from './tool.ts';

const defaultTimeoutSeconds = 60;

const declarationSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, _ and -, at most 64'),
  description: z.string().default(''),
  parameters: z.record(z.string(), z.unknown()).default({type: 'object', properties: {}}),
  /** Program and arguments; no shell reads them. */
  command: z.array(z.string()).min(1),
  /** Runs without asking. */
  safe: z.boolean().default(false),
  timeout: z.number().positive().default(defaultTimeoutSeconds),
});

const fileSchema = z.union([z.array(declarationSchema), z.strictObject({tools: z.array(declarationSchema)})]);

/** @throws UsageError */
export async function readToolsFile(path: string): Promise<Tool[]> {
  const parsed = fileSchema.safeParse(await readJson(path));
  if (!parsed.success) throw new UsageError(`--tools ${path}: ${z.prettifyError(parsed.error).split('\n')[0]}`);
  const declarations = Array.isArray(parsed.data) ? parsed.data : parsed.data.tools;
  return declarations.map(toTool);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new UsageError(`--tools ${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

function toTool({name, description, parameters, command, safe, timeout}: z.infer<typeof declarationSchema>): Tool {
  return {
    name,
    description,
    parameters,
    risk: safe ? 'safe' : 'asks',
    run: (input, context) => runCommand({command, input: JSON.stringify(input), timeoutMs: timeout * 1000}, context),
  };
}
