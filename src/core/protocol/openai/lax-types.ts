/**
 * Building blocks for request schemas that read values the lax way of pydantic: `"4"` and `4.0` are integers, `"yes"`
 * is true, a number is no string. A value that does not fit becomes a zod issue that carries the pydantic error type;
 * `schema-errors.ts` makes the message of it. Absent keys arrive as `undefined`; null is refused unless the field is
 * wrapped in `nullable` or `orDefault`.
 */
import * as z from 'zod';
import {
  isPlainObject,
  JsonFloat,
  MAX_INTEGER_DIGITS,
  objectFromEntries,
  orderedEntries,
} from '../../util/parse-json.ts';
import {type Describe, described, requestJsonSchema} from './request-json-schema.ts';

/** What an issue says: a pydantic error type and the numbers or texts that belong to it, in wire order. */
export interface LaxIssue {
  type: string;
  context?: Record<string, unknown>;
  /** Path below the field, when the fault lies deeper. */
  path?: PropertyKey[];
}

type Report = (issue: LaxIssue) => typeof invalid;
type Reader<T> = (value: unknown, report: Report) => T | typeof invalid;

const invalid = Symbol('invalid');

/** A schema made of one function that returns the read value or reports why there is none. */
function lax<T>(describe: Describe, read: Reader<T>) {
  const schema = z.unknown().transform((value, context): T => {
    const report: Report = ({type, context: details, path}) => {
      context.issues.push({
        code: 'custom',
        message: type,
        params: {type, context: details},
        path: path ?? [],
        input: value,
      });
      return invalid;
    };
    const result = value === undefined ? report({type: 'missing'}) : read(value, report);
    return result === invalid ? z.NEVER : (result as T);
  });
  return described(schema, describe);
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INTEGER_TEXT = /^[+-]?\d+(_\d+)*(\.0*)?$/;
/** The digits after the point belong to the point: two runs of digits side by side would take a long text for ever. */
const FLOAT_TEXT = /^[+-]?((\d+(_\d+)*(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)$/i;

function readIntegerText(text: string, report: Report): bigint | typeof invalid {
  const trimmed = text.trim();
  if (!INTEGER_TEXT.test(trimmed)) return report({type: 'int_parsing'});
  if (trimmed.length > MAX_INTEGER_DIGITS) return report({type: 'int_parsing_size'});
  return BigInt(trimmed.replaceAll('_', '').replace(/\.0*$/, '').replace(/^\+/, ''));
}

function readIntegerFromFloat(value: number, report: Report): bigint | typeof invalid {
  if (!Number.isFinite(value)) return report({type: 'finite_number'});
  if (!Number.isInteger(value)) return report({type: 'int_from_float'});
  // Floats are only taken as integers in the 64-bit range.
  if (Math.abs(value) >= 2 ** 63) return report({type: 'int_parsing_size'});
  return BigInt(value);
}

function readInteger(value: unknown, report: Report): bigint | typeof invalid {
  if (typeof value === 'bigint') return value;
  if (value instanceof JsonFloat) return readIntegerFromFloat(value.value, report);
  if (typeof value === 'number') return readIntegerFromFloat(value, report);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return readIntegerText(value, report);
  return report({type: 'int_type'});
}

interface Bounds {
  ge?: bigint;
  le?: bigint;
}

function checkBounds(value: bigint, {ge, le}: Bounds, report: Report): bigint | typeof invalid {
  if (ge !== undefined && value < ge) return report({type: 'greater_than_equal', context: {ge}});
  if (le !== undefined && value > le) return report({type: 'less_than_equal', context: {le}});
  return value;
}

function readBoundedInteger(value: unknown, bounds: Bounds, report: Report): bigint | typeof invalid {
  const integer = readInteger(value, report);
  return integer === invalid ? invalid : checkBounds(integer, bounds, report);
}

/** An integer as a JavaScript number; digits beyond 2^53 are lost. */
export function laxInt(bounds: {ge?: number} = {}) {
  const bigBounds = bounds.ge === undefined ? {} : {ge: BigInt(bounds.ge)};
  const describe: Describe = () => ({type: 'integer', ...(bounds.ge !== undefined && {minimum: bounds.ge})});
  return lax<number>(describe, (value, report) => {
    const integer = readBoundedInteger(value, bigBounds, report);
    return integer === invalid ? invalid : Number(integer);
  });
}

/** An integer that was written as one, with all its digits. */
export function laxWrittenInt() {
  const describe: Describe = () => ({type: 'integer'});
  return lax<number | bigint>(describe, (value, report) => {
    if (typeof value === 'bigint') return value;
    if (value instanceof JsonFloat) return report({type: 'int_from_float'});
    const integer = readInteger(value, report);
    return integer === invalid ? invalid : Number(integer);
  });
}

/** An integer of the signed 64-bit range, exact. */
export function laxInt64() {
  const describe: Describe = () => ({type: 'integer', format: 'int64'});
  return lax<bigint>(describe, (value, report) => readBoundedInteger(value, {ge: INT64_MIN, le: INT64_MAX}, report));
}

function readFloatText(text: string, report: Report): number | typeof invalid {
  const trimmed = text.trim().toLowerCase();
  if (!FLOAT_TEXT.test(trimmed)) return report({type: 'float_parsing'});
  const sign = trimmed.startsWith('-') ? -1 : 1;
  if (trimmed.includes('inf')) return sign * Number.POSITIVE_INFINITY;
  return trimmed.includes('nan') ? Number.NaN : Number(trimmed.replaceAll('_', ''));
}

function readFloat(value: unknown, report: Report): number | typeof invalid {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  return typeof value === 'string' ? readFloatText(value, report) : report({type: 'float_type'});
}

/** A number; NaN and infinities pass. */
export function laxFloat() {
  return lax<number>(() => ({type: 'number'}), readFloat);
}

/** A number that stays a float when it was written as one. */
export function laxWrittenFloat() {
  return lax<number | JsonFloat>(
    () => ({type: 'number'}),
    (value, report) => (value instanceof JsonFloat ? value : readFloat(value, report)),
  );
}

const BOOLEAN_TEXTS = new Map<string, boolean>([
  ...['1', 'true', 't', 'yes', 'y', 'on'].map((text) => [text, true] as const),
  ...['0', 'false', 'f', 'no', 'n', 'off'].map((text) => [text, false] as const),
]);

export function laxBool() {
  return lax<boolean>(
    () => ({type: 'boolean'}),
    (value, report) => {
      if (typeof value === 'boolean') return value;
      const number = value instanceof JsonFloat ? value.value : value;
      if (number === 0 || number === 1) return number === 1;
      if (typeof number === 'string') return BOOLEAN_TEXTS.get(number.toLowerCase()) ?? report({type: 'bool_parsing'});
      const isInteger = typeof number === 'bigint' || Number.isInteger(number);
      return report({type: isInteger ? 'bool_parsing' : 'bool_type'});
    },
  );
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string without lone surrogates, which have no UTF-8 form. */
export function laxString() {
  return lax<string>(
    () => ({type: 'string'}),
    (value, report) => {
      if (typeof value !== 'string') return report({type: 'string_type'});
      return LONE_SURROGATE.test(value) ? report({type: 'string_unicode'}) : value;
    },
  );
}

/** `'a' or 'b'`, `'a', 'b' or 'c'`. */
export function listLiterals(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

export function laxLiteral<const T extends readonly string[]>(values: T) {
  const expected = listLiterals(values);
  return lax<T[number]>(
    () => ({type: 'string', enum: [...values]}),
    (value, report) =>
      values.includes(value as string) ? (value as T[number]) : report({type: 'literal_error', context: {expected}}),
  );
}

/** Any JSON object, unchanged. */
export function laxDict() {
  return lax<Record<string, unknown>>(
    () => ({type: 'object', additionalProperties: true}),
    (value, report) => (isPlainObject(value) ? value : report({type: 'dict_type'})),
  );
}

/** Hands the issues of an inner schema on, below `path`. */
function readInner<T>(schema: z.ZodType<T>, value: unknown, path: PropertyKey[], report: Report): T | typeof invalid {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) report({...laxIssueOf(issue), path: [...path, ...issue.path]});
  return invalid;
}

/** The pydantic side of an issue that one of these schemas made. */
export function laxIssueOf(issue: z.core.$ZodIssue): LaxIssue {
  const {type, context} = (issue.code === 'custom' ? (issue.params ?? {}) : {}) as Partial<LaxIssue>;
  return {type: type ?? issue.code, ...(context && {context})};
}

interface ListLimits {
  min?: number;
  max?: number;
}

function listLengthIssue(actual_length: number, {min, max}: ListLimits): LaxIssue | null {
  if (max !== undefined && actual_length > max) {
    return {type: 'too_long', context: {field_type: 'List', max_length: max, actual_length}};
  }
  if (min !== undefined && actual_length < min) {
    return {type: 'too_short', context: {field_type: 'List', min_length: min, actual_length}};
  }
  return null;
}

export function laxList<T>(item: z.ZodType<T>, limits: ListLimits = {}) {
  const describe: Describe = () => ({
    type: 'array',
    items: requestJsonSchema(item),
    ...(limits.min !== undefined && {minItems: limits.min}),
    ...(limits.max !== undefined && {maxItems: limits.max}),
  });
  return lax<T[]>(describe, (value, report) => {
    if (!Array.isArray(value)) return report({type: 'list_type'});
    const lengthIssue = listLengthIssue(value.length, limits);
    if (lengthIssue) return report(lengthIssue);
    const items = value.map((entry, index) => readInner(item, entry, [index], report));
    return items.includes(invalid) ? invalid : (items as T[]);
  });
}

/** A JSON object with values of one kind; keeps the order of its keys. */
export function laxMap<T>(item: z.ZodType<T>) {
  const describe: Describe = () => ({type: 'object', additionalProperties: requestJsonSchema(item)});
  return lax<Record<string, T>>(describe, (value, report) => {
    if (!isPlainObject(value)) return report({type: 'dict_type'});
    const entries = orderedEntries(value).map(([key, entry]) => [key, readInner(item, entry, [key], report)] as const);
    return entries.some(([, entry]) => entry === invalid) ? invalid : objectFromEntries(entries as [string, T][]);
  });
}

/** A JSON object with named fields; other keys are dropped. Issues come in the order of the fields. */
export function laxObject<S extends z.ZodRawShape>(shape: S) {
  const schema = z.object(shape);
  return lax<z.output<typeof schema>>(
    () => requestJsonSchema(schema),
    (value, report) =>
      isPlainObject(value)
        ? (readInner(schema as z.ZodType<z.output<typeof schema>>, value, [], report) as z.output<typeof schema>)
        : report({type: 'model_attributes_type'}),
  );
}

/** The first branch that fits; when none does, the issues of every branch. */
export function laxUnion<const T extends readonly z.ZodType[]>(branches: T) {
  return lax<z.output<T[number]>>(
    () => ({anyOf: branches.map(requestJsonSchema)}),
    (value, report) => {
      for (const branch of branches) {
        const result = branch.safeParse(value);
        if (result.success) return result.data as z.output<T[number]>;
      }
      for (const branch of branches) readInner(branch, value, [], report);
      return invalid;
    },
  );
}

/** Null and absent stay null. */
export function nullable<T extends z.ZodType>(schema: T) {
  return schema.nullable().default(null as never) as unknown as z.ZodType<z.output<T> | null>;
}

/** Null and absent become the default. */
export function orDefault<T>(schema: z.ZodType<T>, value: NoInfer<T>) {
  const read = schema.nullish().transform((given) => given ?? value) as unknown as z.ZodType<T>;
  return described(read, () => ({...requestJsonSchema(schema.nullable()), default: value}));
}

/** Absent becomes the default; null is refused. */
export function withDefault<T>(schema: z.ZodType<T>, value: NoInfer<T>) {
  const read = schema.optional().transform((given) => (given === undefined ? value : given)) as unknown as z.ZodType<T>;
  return described(read, () => ({...requestJsonSchema(schema), default: value}));
}
