/** Reads data sets from files: JSON and JSON lines, checked by a schema, with the line in every message. */
import {readFile} from 'node:fs/promises';
import type * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {readFault} from '../../core/util/file-fault.ts';

/** @throws UsageError when the file cannot be read */
export async function readDataFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`--dataset-path ${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

/** @throws UsageError that names the line */
export async function readJsonLines<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.infer<Schema>[]> {
  const text = await readDataFile(path);
  const numbered = text.split('\n').map((line, index) => ({line: line.trim(), place: `${path}:${index + 1}`}));
  const entries = numbered.filter(({line}) => line !== '').map(({line, place}) => parseEntry(line, place, schema));
  if (entries.length === 0) throw new UsageError(`${path} has no entries`);
  return entries;
}

/** @throws UsageError */
export function parseEntry<Schema extends z.ZodType>(text: string, place: string, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(text, place));
  if (parsed.success) return parsed.data;
  const {path, message} = parsed.error.issues[0];
  throw new UsageError(`${place} is no entry of this data set: ${path.join('.') || 'entry'}: ${message}`);
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${place} is no JSON: ${(cause as Error).message}`, {cause});
  }
}
