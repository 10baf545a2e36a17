/**
 * A list flag takes every value up to the next flag, so a model behind one would be read as one of its values and another
 * model be served. That is told instead.
 */
import {existsSync} from 'node:fs';
import {UsageError} from '../core/errors.ts';
import type {OptionSpec} from './option-spec.ts';

/** Lists whose values are files themselves. */
const fileLists = new Set(['plugin']);

/** Call when no model was given. @throws UsageError when the last value of a list is a model's path */
export function refuseSwallowedModel(specs: readonly OptionSpec[], options: Readonly<Record<string, unknown>>): void {
  for (const {key, flag} of specs) {
    const value = options[key];
    const last = Array.isArray(value) && !fileLists.has(key) ? value.at(-1) : undefined;
    if (typeof last !== 'string' || !isModelPath(last)) continue;
    throw new UsageError(`${last} was read as a value of --${flag}, and no model is left to serve`, {
      hint: `a list flag takes every value up to the next flag: name the model first, as in \`parlance serve ${last} --${flag} …\``,
    });
  }
}

function isModelPath(text: string): boolean {
  return (text.includes('/') || text.endsWith('.gguf')) && existsSync(text);
}
