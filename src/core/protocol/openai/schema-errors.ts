/**
 * From zod issues to the error text of the contract: entries in the form of pydantic, printed like Python dictionaries,
 * at most ten, and a `SchemaError` whose parameter is the path of the first one
 * (vllm/entrypoints/serve/exception_handling/handlers/validation.py).
 */
import type * as z from 'zod';
import {SchemaError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {type LaxIssue, laxIssueOf} from './lax-types.ts';
import {PythonError, pythonDictRepr, pythonStr} from './python-repr.ts';

/** One fault of a body. */
export interface SchemaFault {
  type: string;
  path: PropertyKey[];
  /** The refused value; for `missing` the object that lacks the key. */
  input: unknown;
  context?: Record<string, unknown>;
}

const MAX_ENTRIES = 10;
const MAX_ENTRY_CHARACTERS = 1000;
const MAX_INPUT_CHARACTERS = 200;
const TRUNCATED = '...[truncated]';

/** The text of every error type; `{name}` is filled from the context. */
const MESSAGES: Record<string, string> = {
  missing: 'Field required',
  string_type: 'Input should be a valid string',
  string_unicode: 'Input should be a valid string, unable to parse raw data as a unicode string',
  int_type: 'Input should be a valid integer',
  int_parsing: 'Input should be a valid integer, unable to parse string as an integer',
  int_parsing_size: 'Unable to parse input string as an integer, exceeded maximum size',
  int_from_float: 'Input should be a valid integer, got a number with a fractional part',
  finite_number: 'Input should be a finite number',
  float_type: 'Input should be a valid number',
  float_parsing: 'Input should be a valid number, unable to parse string as a number',
  bool_type: 'Input should be a valid boolean',
  bool_parsing: 'Input should be a valid boolean, unable to interpret input',
  list_type: 'Input should be a valid list',
  dict_type: 'Input should be a valid dictionary',
  model_attributes_type: 'Input should be a valid dictionary or object to extract fields from',
  literal_error: 'Input should be {expected}',
  greater_than_equal: 'Input should be greater than or equal to {ge}',
  less_than_equal: 'Input should be less than or equal to {le}',
  json_invalid: 'JSON decode error',
  value_error: 'Value error, {error}',
};

function listLengthMessage(context: Record<string, unknown>): string {
  const {max_length, min_length, actual_length} = context;
  const limit = Number(max_length ?? min_length);
  const bound = max_length === undefined ? 'least' : 'most';
  return `List should have at ${bound} ${limit} ${limit === 1 ? 'item' : 'items'} after validation, not ${actual_length}`;
}

function messageOf({type, context = {}}: SchemaFault): string {
  if (type === 'too_long' || type === 'too_short') return listLengthMessage(context);
  return (MESSAGES[type] ?? type).replace(/\{(\w+)\}/g, (_, name: string) => shownContext(context[name]));
}

/** An error among the context is shown by its message. */
function shownContext(value: unknown): string {
  return value instanceof PythonError ? value.message : String(value);
}

/** Values are shown as texts; lists and objects by their size only. */
function describeInput(value: unknown): string {
  if (Array.isArray(value)) return `<list of ${value.length} items>`;
  if (isPlainObject(value)) return `<dict of ${Object.keys(value).length} items>`;
  return truncate(pythonStr(value), MAX_INPUT_CHARACTERS);
}

function truncate(text: string, maxCharacters: number): string {
  const characters = text.length > maxCharacters ? [...text] : [];
  return characters.length > maxCharacters ? characters.slice(0, maxCharacters).join('') + TRUNCATED : text;
}

function locationOf(path: PropertyKey[]): string {
  return ['body', ...path].join('.');
}

function describeFault(fault: SchemaFault): string {
  const entries: [string, unknown][] = [
    ['type', fault.type],
    ['loc', locationOf(fault.path)],
    ['msg', messageOf(fault)],
    ['input', describeInput(fault.input)],
  ];
  if (fault.context) entries.push(['ctx', fault.context]);
  return truncate(pythonDictRepr(entries), MAX_ENTRY_CHARACTERS);
}

/** The message of a type check: a count, up to ten entries, and how many more there are. */
export function schemaErrorMessage(faults: SchemaFault[]): string {
  const lines = faults.slice(0, MAX_ENTRIES).map((fault) => `  ${describeFault(fault)}`);
  if (faults.length > MAX_ENTRIES) lines.push(`  ...and ${faults.length - MAX_ENTRIES} more errors`);
  return `${faults.length} validation error${faults.length === 1 ? '' : 's'}:\n${lines.join('\n')}`.trim();
}

/** A fault that a field's own check found. */
export function valueFault(path: PropertyKey[], input: unknown, message: string): SchemaFault {
  return {type: 'value_error', path, input, context: {error: new PythonError('ValueError', message)}};
}

/** @param faults at least one */
export function schemaError(faults: SchemaFault[]): SchemaError {
  return new SchemaError(schemaErrorMessage(faults), {param: locationOf(faults[0].path), showsParameter: false});
}

function valueAt(root: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], root);
}

function faultOf(issue: z.core.$ZodIssue, root: unknown): SchemaFault {
  const {type, context}: LaxIssue = laxIssueOf(issue);
  const inputPath = type === 'missing' ? issue.path.slice(0, -1) : issue.path;
  return {type, path: issue.path, input: valueAt(root, inputPath), ...(context && {context})};
}

/**
 * Reads a body with a schema of `lax-types.ts`.
 * @throws SchemaError with all faults
 */
export function parseWithSchema<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw schemaError(result.error.issues.map((issue) => faultOf(issue, body)));
}
