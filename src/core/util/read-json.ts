/** Reads the small JSON files that lie beside a model. A file that is no JSON is named in the error. */
import {readFile} from 'node:fs/promises';
import {ModelError} from '../errors.ts';

/**
 * @returns the parsed content; null when the path is null or the file does not exist
 * @throws ModelError when the file cannot be read or holds no JSON object
 */
export async function readJsonObject(path: string | null): Promise<Record<string, unknown> | null> {
  if (path === null) return null;
  const text = await readOptionalText(path);
  return text === null ? null : parseJsonObject(text, path);
}

/** @throws ModelError naming the file when the text is no JSON object */
export function parseJsonObject(text: string, path: string): Record<string, unknown> {
  const value = parseJson(text, path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ModelError(`${path} must hold a JSON object.`);
  }
  return value as Record<string, unknown>;
}

/** @returns null when there is no such file */
async function readOptionalText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ModelError(`${path} cannot be read: ${(error as Error).message}`, {cause: error});
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ModelError(`${path} is not valid JSON (${(error as Error).message}). Is the download complete?`, {
      cause: error,
    });
  }
}
