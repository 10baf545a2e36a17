/**
 * Rotary settings of `config.json`: `rope_theta` and `rope_scaling` in older files, `rope_parameters` in newer ones, there
 * also one set for each kind of layer.
 */
import * as z from 'zod';
import {ModelError} from '../../../errors.ts';
import {
  bandDivisors,
  linearDivisors,
  longRopeAmplitude,
  type RotaryTable,
  yarnAmplitude,
  yarnDivisors,
} from './rotary.ts';

const optionalNumber = z.number().nullish();

export const ropeSchema = z.looseObject({
  rope_type: z.string().nullish(),
  /** Older name of `rope_type`. */
  type: z.string().nullish(),
  rope_theta: optionalNumber,
  partial_rotary_factor: optionalNumber,
  factor: optionalNumber,
  low_freq_factor: optionalNumber,
  high_freq_factor: optionalNumber,
  original_max_position_embeddings: optionalNumber,
  attention_factor: optionalNumber,
  beta_fast: optionalNumber,
  beta_slow: optionalNumber,
  mscale: optionalNumber,
  mscale_all_dim: optionalNumber,
  truncate: z.boolean().nullish(),
  short_factor: z.array(z.number()).nullish(),
  long_factor: z.array(z.number()).nullish(),
});

type Rope = z.infer<typeof ropeSchema>;

/** Keys of `config.json` that concern rotation. */
export const ropeFieldsSchema = {
  rope_theta: optionalNumber,
  rope_local_base_freq: optionalNumber,
  partial_rotary_factor: optionalNumber,
  original_max_position_embeddings: optionalNumber,
  rope_parameters: ropeSchema
    .extend({full_attention: ropeSchema.nullish(), sliding_attention: ropeSchema.nullish()})
    .nullish(),
};

export interface RopeFields {
  max_position_embeddings: number;
  rope_theta?: number | null | undefined;
  rope_local_base_freq?: number | null | undefined;
  partial_rotary_factor?: number | null | undefined;
  original_max_position_embeddings?: number | null | undefined;
  rope_scaling?: Rope | null | undefined;
  rope_parameters?:
    | (Rope & {full_attention?: Rope | null | undefined; sliding_attention?: Rope | null | undefined})
    | null
    | undefined;
}

const defaultBase = 10_000;

/** One scaling's divisors and amplitude; `long` only where long sequences have others. */
interface Scaled {
  divisors: readonly number[] | null;
  amplitude: number;
  long?: {divisors: readonly number[]; originalLength: number};
}

interface ScalingInput {
  rope: Rope;
  base: number;
  size: number;
  contextLength: number;
  originalLength: number;
  need: (key: keyof Rope & string) => number;
}

const scalings: Readonly<Record<string, (input: ScalingInput) => Scaled>> = {
  default: () => ({divisors: null, amplitude: 1}),
  // Changes nothing up to the positions of the configuration, and no sequence is longer here.
  dynamic: () => ({divisors: null, amplitude: 1}),
  linear: ({size, need}) => ({divisors: linearDivisors(size, need('factor')), amplitude: 1}),
  llama3: ({base, size, originalLength, need}) => ({
    divisors: bandDivisors(base, size, {
      factor: need('factor'),
      lowFrequencyFactor: need('low_freq_factor'),
      highFrequencyFactor: need('high_freq_factor'),
      originalLength,
    }),
    amplitude: 1,
  }),
  yarn: ({rope, base, size, originalLength, need}) => ({
    divisors: yarnDivisors(base, size, {
      factor: need('factor'),
      betaFast: rope.beta_fast ?? 32,
      betaSlow: rope.beta_slow ?? 1,
      originalLength,
      truncates: rope.truncate ?? true,
    }),
    amplitude: rope.attention_factor ?? defaultYarnAmplitude(rope, need('factor')),
  }),
  longrope: ({rope, contextLength, originalLength}) => ({
    divisors: rope.short_factor ?? [],
    amplitude: rope.attention_factor ?? longRopeAmplitude(contextLength, originalLength),
    long: {divisors: rope.long_factor ?? [], originalLength},
  }),
};

/** Older names of scalings. */
const aliases: Readonly<Record<string, string>> = {su: 'longrope'};

function defaultYarnAmplitude({mscale, mscale_all_dim}: Rope, factor: number): number {
  return mscale && mscale_all_dim
    ? yarnAmplitude(factor, mscale) / yarnAmplitude(factor, mscale_all_dim)
    : yarnAmplitude(factor);
}

/** @throws ModelError for a scaling that is unknown or lacks a number */
export function readHfRotary(fields: RopeFields, headSize: number, hasLocal: boolean, path: string) {
  const parameters = fields.rope_parameters ?? fields.rope_scaling ?? {};
  const globalRope = fields.rope_parameters?.full_attention ?? parameters;
  const base = globalRope.rope_theta ?? fields.rope_theta ?? defaultBase;
  const part = globalRope.partial_rotary_factor ?? fields.partial_rotary_factor ?? 1;
  const size = Math.floor(headSize * part);
  const {long, ...scaled} = readScaling(globalRope, {fields, base, size, path});
  const global: RotaryTable = {base, size, ...scaled};
  const localBase = fields.rope_parameters?.sliding_attention?.rope_theta ?? fields.rope_local_base_freq ?? defaultBase;
  const local: RotaryTable | null = hasLocal ? {base: localBase, size, divisors: null, amplitude: 1} : null;
  return {
    rotary: {global, local},
    longRotary: long ? {table: {...global, divisors: long.divisors}, originalLength: long.originalLength} : null,
  };
}

interface ScalingPlace {
  fields: RopeFields;
  base: number;
  size: number;
  path: string;
}

function readScaling(rope: Rope, {fields, base, size, path}: ScalingPlace): Scaled {
  const name = rope.rope_type ?? rope.type ?? 'default';
  const plainName = (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;
  const scaling = Object.hasOwn(scalings, plainName) ? scalings[plainName] : undefined;
  if (!scaling) {
    throw new ModelError(
      `${path}: rope scaling "${name}" is not supported. Supported: ${Object.keys(scalings).join(', ')}.`,
    );
  }
  const need = (key: keyof Rope & string): number => {
    const value = rope[key];
    if (typeof value === 'number' && value > 0) return value;
    throw new ModelError(`${path}: rope scaling "${name}" needs a number above 0 as "${key}".`);
  };
  const contextLength = fields.max_position_embeddings;
  const originalLength =
    rope.original_max_position_embeddings ?? fields.original_max_position_embeddings ?? contextLength;
  return scaling({rope, base, size, contextLength, originalLength, need});
}
