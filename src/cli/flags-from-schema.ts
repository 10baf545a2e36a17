/**
 * From option specs to the command line and back: oclif flags for parsing and completion, and typed options from the
 * texts that the command line, the environment and the configuration file hold.
 */
import {Flags, type Interfaces} from '@oclif/core';
import type * as z from 'zod';
import {UsageError} from '../core/errors.ts';
import {allowedValues, invalidValue, type OptionSpec} from './option-spec.ts';

/** What oclif's parser gives for our flags. */
export type RawFlags = Record<string, string | boolean | string[] | undefined>;

/** oclif flags without defaults: those are the schema's, and only values that somebody gave are parsed. */
export function flagsFromSpecs(specs: readonly OptionSpec[]): Interfaces.FlagInput {
  return Object.fromEntries(specs.map((spec) => [spec.flag, oclifFlag(spec)]));
}

function oclifFlag(spec: OptionSpec): Interfaces.FlagInput[string] {
  const common = {description: spec.description, helpGroup: spec.group, aliases: spec.aliases};
  if (spec.kind === 'boolean') return Flags.boolean({...common, allowNo: true});
  const withValue = {...common, helpValue: spec.valueName, ...(spec.choices.length > 0 && {options: spec.choices})};
  if (spec.kind === 'list') return Flags.string({...withValue, multiple: true, multipleNonGreedy: true});
  return Flags.string(withValue);
}

/**
 * Converts the given texts and lets the schema fill in the rest.
 * @throws UsageError that names the flag, the value and what is allowed
 */
export function optionsFromFlags<Schema extends z.ZodObject>(
  schema: Schema,
  specs: readonly OptionSpec[],
  flags: RawFlags,
): z.infer<Schema> {
  const given = specs.filter((spec) => flags[spec.flag] !== undefined);
  const values = Object.fromEntries(given.map((spec) => [spec.key, parsedValue(spec, flags[spec.flag])]));
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  throw schemaUsageError(result.error, specs, flags);
}

function schemaUsageError(error: z.ZodError, specs: readonly OptionSpec[], flags: RawFlags): UsageError {
  const issue = error.issues[0]!;
  const spec = specs.find(({key}) => key === issue.path[0]);
  if (!spec) return new UsageError(issue.message);
  const isOwnText = issue.code === 'custom';
  return invalidValue(spec, `--${spec.flag}`, flags[spec.flag], isOwnText ? issue.message : allowedValues(spec));
}

/** The value that a text stands for; limits are left to the schema. */
function parsedValue(spec: OptionSpec, raw: RawFlags[string]): unknown {
  if (typeof raw !== 'string') return raw;
  if (spec.isNullable && spec.kind === 'integer' && raw === 'auto') return null;
  if (spec.kind === 'integer' || spec.kind === 'number') return numberOf(spec, raw);
  if (spec.kind === 'json') return jsonOf(spec, raw);
  return raw;
}

function numberOf(spec: OptionSpec, raw: string): number {
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  if (Number.isNaN(value)) throw invalidValue(spec, `--${spec.flag}`, raw);
  return value;
}

function jsonOf(spec: OptionSpec, raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch (error) {
    throw invalidValue(spec, `--${spec.flag}`, raw, `valid JSON (${(error as Error).message})`);
  }
}
