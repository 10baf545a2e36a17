/** Reads the small JSON files that lie beside a model. A file that is no JSON is named in the error. */
import {readFile} from 'node:fs/promises';
import {ModelError} from '../errors.ts';
import {readFault} from './file-fault.ts';
import {isPlainObject} from './parse-json.ts';

type Parse = (text: string) => unknown;

/**
 * @param parse another reader of JSON, such as the one that keeps `1.0` apart from `1`
 * @returns the parsed content; null when the path is null or the file does not exist
 * @throws ModelError when the file cannot be read or holds no JSON object
 */
export async function readJsonObject(
  path: string | null,
  parse: Parse = JSON.parse,
): Promise<Record<string, unknown> | null> {
  if (path === null) return null;
  const text = await readOptionalText(path);
  return text === null ? null : parseJsonObject(text, path, parse);
}

/** @throws ModelError naming the file when the text is no JSON object */
export function parseJsonObject(text: string, path: string, parse: Parse = JSON.parse): Record<string, unknown> {
  const value = parseWith(parse, text, path);
  if (!isPlainObject(value)) throw new ModelError(`${path} must hold a JSON object.`);
  return value;
}

/** @returns null when there is no such file */
async function readOptionalText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ModelError(`${path} cannot be read: ${readFault(error)}`, {cause: error});
  }
}

function parseWith(parse: Parse, text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ModelError(`${path} is not valid JSON (${(error as Error).message}). Is the download complete?`, {
      cause: error,
    });
  }
}
