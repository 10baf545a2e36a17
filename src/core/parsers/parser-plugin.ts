/**
 * Parsers of users: a module whose default export makes format definitions out of the same building blocks that the
 * built-in formats use. `docs/plugins.md` shows one in ten lines.
 */

import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {UsageError} from '../errors.ts';
import {jsonEnvelope} from './argument-readers/json-envelope.ts';
import {jsonObject} from './argument-readers/json-object.ts';
import type {Format} from './format.ts';
import {jsonArrayMarkup, jsonObjectMarkup} from './tool/json-markup.ts';

/** What a plugin builds formats from. */
export const parserKit = {jsonEnvelope, jsonObject, jsonArrayMarkup, jsonObjectMarkup} as const;

export type ParserKit = typeof parserKit;

export type ParserPlugin = (kit: ParserKit) => readonly Format[];

const HINT = 'A parser plugin exports a function (kit) => [definitions] as its default; see docs/plugins.md.';

/**
 * @param flag the option that named the file, for error texts
 * @throws UsageError when there is no such file, it fails while loading, or what it makes are no definitions
 */
export async function loadParserPlugin(flag: string, file: string, folder = process.cwd()): Promise<readonly Format[]> {
  const path = resolve(folder, file);
  if (!existsSync(path)) throw new UsageError(`${flag} ${file}: there is no such file`);
  const formats = await makeFormats(flag, file, path);
  if (!Array.isArray(formats) || formats.length === 0 || !formats.every(isFormat)) {
    throw new UsageError(`${flag} ${file} makes no format definitions`, {hint: HINT});
  }
  return formats.map(withDefaults);
}

async function makeFormats(flag: string, file: string, path: string): Promise<unknown> {
  try {
    const module: {default?: unknown} = await import(pathToFileURL(path).href);
    return typeof module.default === 'function' ? module.default(parserKit) : undefined;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${flag} ${file} cannot be loaded: ${reason}`, {cause});
  }
}

function isFormat(value: unknown): value is Format {
  const {kind, names, machine} = (value ?? {}) as Partial<Format>;
  const isNamed = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string');
  return (kind === 'tool' || kind === 'reasoning') && isNamed && typeof machine === 'function';
}

/** Fields that a plugin may leave out. */
function withDefaults(format: Format): Format {
  if (format.kind === 'reasoning') return {...format, keepsSpecialTokens: format.keepsSpecialTokens ?? 'always'};
  return {
    ...format,
    keepsSpecialTokens: format.keepsSpecialTokens ?? 'with-tools',
    forcedCalls: format.forcedCalls ?? 'json',
    whenNone: format.whenNone ?? 'raw',
  };
}
