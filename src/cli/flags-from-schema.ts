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
 * @param labels how messages name a flag that was not given on the command line
 * @throws UsageError that names the flag, the value and what is allowed
 */
export function optionsFromFlags<Schema extends z.ZodObject>(
  schema: Schema,
  specs: readonly OptionSpec[],
  flags: RawFlags,
  labels: Readonly<Record<string, string>> = {},
): z.infer<Schema> {
  const labelOf = (spec: OptionSpec) => labels[spec.flag] ?? `--${spec.flag}`;
  const given = specs.filter((spec) => flags[spec.flag] !== undefined);
  const values = Object.fromEntries(
    given.map((spec) => [spec.key, parsedValue(spec, labelOf(spec), flags[spec.flag])]),
  );
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const spec = specs.find(({key}) => key === issue.path[0]);
  if (!spec) throw new UsageError(issue.message);
  const allowed = issue.code === 'custom' ? issue.message : allowedValues(spec);
  throw invalidValue(spec, labelOf(spec), flags[spec.flag], allowed);
}

/** The value that a text stands for; limits are left to the schema. */
function parsedValue(spec: OptionSpec, label: string, raw: RawFlags[string]): unknown {
  if (typeof raw !== 'string') return raw;
  if (spec.isNullable && spec.kind === 'integer' && raw === 'auto') return null;
  if (spec.kind === 'integer' || spec.kind === 'number') return numberOf(spec, label, raw);
  if (spec.kind === 'json') return jsonOf(spec, label, raw);
  return raw;
}

function numberOf(spec: OptionSpec, label: string, raw: string): number {
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  if (Number.isNaN(value)) throw invalidValue(spec, label, raw);
  return value;
}

function jsonOf(spec: OptionSpec, label: string, raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch (error) {
    throw invalidValue(spec, label, raw, `valid JSON (${(error as Error).message})`);
  }
}
