/**
 * One option of a command as plain data, read from a zod schema: name, kind, limits, default, help text. Flags, help,
 * environment names, the configuration file and the conversion of texts to values all come from this one list.
 *
 * Schema fields describe themselves with `.meta({...})`; the keys in use are those of `OptionMeta`.
 */
import * as z from 'zod';
import {UsageError} from '../core/errors.ts';

export type OptionKind = 'boolean' | 'integer' | 'number' | 'text' | 'choice' | 'json' | 'list';

/** What a schema field may say about itself on the command line. */
export interface OptionMeta {
  description: string;
  /** Heading in the help, as in vLLM: `Frontend`, `ModelConfig`, … */
  group: string;
  /** Flag name where it is not the key in kebab case. */
  flag?: string;
  /** Further spellings of the flag. */
  aliases?: string[];
  /** Environment variables read before `PARLANCE_<FLAG>`. */
  env?: string[];
  /** `json`: the value is a JSON text whatever its type. */
  format?: 'json';
  /** What stands for the value in the help, e.g. `FILE`. */
  valueName?: string;
  /** What the flag means when no value follows it. */
  bareValue?: string;
  /** Shown on the first page of the help. */
  firstPage?: boolean;
  /** Never shown in any echo, log or file. */
  secret?: boolean;
  /** The default comes from the model's own files. */
  fromModel?: boolean;
}

export interface OptionSpec {
  /** Key of the schema. */
  key: string;
  /** Flag name without dashes. */
  flag: string;
  aliases: string[];
  kind: OptionKind;
  isNullable: boolean;
  choices: string[];
  minimum: number | null;
  maximum: number | null;
  defaultValue: unknown;
  description: string;
  group: string;
  /** In the order in which they are asked. */
  env: string[];
  valueName: string;
  /** Null when a value must follow. */
  bareValue: string | null;
  isOnFirstPage: boolean;
  isSecret: boolean;
  isFromModel: boolean;
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
type FieldSchema = JsonSchema & Partial<OptionMeta>;

/** All options of a schema, in its order. */
export function optionSpecs(schema: z.ZodObject): OptionSpec[] {
  const {properties = {}} = z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'});
  return Object.entries(properties).map(([key, field]) => optionSpec(key, field as FieldSchema));
}

function optionSpec(key: string, field: FieldSchema): OptionSpec {
  const {isNullable, type} = withoutNull(field);
  const kind = field.format === 'json' ? 'json' : kindOf(type);
  const flag = field.flag ?? kebabCase(key);
  return {
    key,
    flag,
    aliases: field.aliases ?? [],
    kind,
    isNullable,
    choices: (type.enum ?? []).map(String),
    minimum: limit(type.minimum, Number.MIN_SAFE_INTEGER),
    maximum: limit(type.maximum, Number.MAX_SAFE_INTEGER),
    defaultValue: field.default ?? null,
    description: field.description ?? '',
    group: field.group ?? 'Frontend',
    env: [...(field.env ?? []), environmentName(flag)],
    valueName: field.valueName ?? valueNames[kind],
    bareValue: field.bareValue ?? null,
    isOnFirstPage: field.firstPage ?? false,
    isSecret: field.secret ?? false,
    isFromModel: field.fromModel ?? false,
  };
}

const valueNames: Record<OptionKind, string> = {
  boolean: '',
  integer: 'N',
  number: 'NUMBER',
  text: 'TEXT',
  choice: 'CHOICE',
  json: 'JSON',
  list: 'VALUE...',
};

const kindsByType: Readonly<Record<string, OptionKind>> = {
  boolean: 'boolean',
  integer: 'integer',
  number: 'number',
  array: 'list',
  object: 'json',
};

function kindOf(type: JsonSchema): OptionKind {
  if (type.enum) return 'choice';
  return kindsByType[String(type.type)] ?? 'text';
}

/** Takes `null` out of a union with one other member, or out of a list of two types. */
function withoutNull(field: JsonSchema): {isNullable: boolean; type: JsonSchema} {
  if (Array.isArray(field.type)) return {isNullable: true, type: {...field, type: field.type[0] as 'string'}};
  const members = (field.anyOf ?? []) as JsonSchema[];
  const type = members.find((member) => member.type !== 'null');
  return {isNullable: members.some((member) => member.type === 'null'), type: type ?? field};
}

/** The bounds of a safe integer are no limit that somebody chose. */
function limit(value: number | undefined, unbounded: number): number | null {
  return value === undefined || value === unbounded ? null : value;
}

function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function environmentName(flag: string): string {
  return `PARLANCE_${flag.replaceAll('-', '_').toUpperCase()}`;
}

const kindsInWords: Readonly<Record<OptionKind, string>> = {
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  text: 'a text',
  choice: '',
  json: 'JSON',
  list: 'a list',
};

/** What a value may be, in words: "an integer from 1 to 1024". */
export function allowedValues(spec: OptionSpec): string {
  const orAuto = spec.isNullable && spec.kind === 'integer' ? ', or auto' : '';
  if (spec.kind === 'choice') return `one of ${spec.choices.join(', ')}`;
  return `${kindsInWords[spec.kind]}${limitsInWords(spec)}${orAuto}`;
}

function limitsInWords({minimum, maximum}: OptionSpec): string {
  if (minimum !== null && maximum !== null) return ` from ${minimum} to ${maximum}`;
  if (minimum !== null) return ` of at least ${minimum}`;
  if (maximum !== null) return ` of at most ${maximum}`;
  return '';
}

/** The error of a value that this option cannot have. `label` says where the value stands, e.g. `--port`. */
export function invalidValue(
  spec: OptionSpec,
  label: string,
  value: unknown,
  allowed = allowedValues(spec),
): UsageError {
  const text = [value].flat().join(' ');
  const shown = spec.isSecret ? '***' : text === '' ? 'empty' : text;
  return new UsageError(`${label} cannot be ${shown}\nallowed: ${allowed}`);
}
