/**
 * Do the tensors of a model have the shapes that its configuration promises? Told here with the name of the tensor; the
 * library would say it later and in words of its own.
 */
import {ModelError} from '../../../errors.ts';
import type {DecoderConfig} from './decoder-config.ts';
import type {WeightTensor} from './weight-source.ts';

/** Innermost first; null = any size. */
type Expected = readonly (number | null)[];

/** @throws ModelError that names the first tensor which does not fit */
export function checkShapes(config: DecoderConfig, tensors: ReadonlyMap<string, WeightTensor>, path: string): void {
  const expectations = expectedShapes(config);
  for (const {name, shape} of tensors.values()) {
    const [, layer, part = name] = /^blk\.(\d+)\.(.+)$/.exec(name) ?? [];
    const expected = expectations[part];
    if (expected && !fits(shape, expected)) throw misfit(path, name, shape, expected);
    if (part === 'ffn_down.weight') checkMlp(tensors, `blk.${layer}`, path);
  }
}

function expectedShapes(config: DecoderConfig): Readonly<Record<string, Expected | undefined>> {
  const {hiddenSize, numHeads, numKvHeads, headSize, vocabSize, queryKeyNorm, mixture} = config;
  const [queries, keys] = [numHeads * headSize, numKvHeads * headSize];
  const experts = mixture?.numExperts ?? null;
  return {
    'token_embd.weight': [hiddenSize, vocabSize],
    'output.weight': [hiddenSize, vocabSize],
    'output_norm.weight': [hiddenSize],
    'attn_norm.weight': [hiddenSize],
    'ffn_norm.weight': [hiddenSize],
    'post_attention_norm.weight': [hiddenSize],
    'post_ffw_norm.weight': [hiddenSize],
    'attn_q.weight': [hiddenSize, queries],
    'attn_q.bias': [queries],
    'attn_k.weight': [hiddenSize, keys],
    'attn_k.bias': [keys],
    'attn_v.weight': [hiddenSize, keys],
    'attn_v.bias': [keys],
    'attn_qkv.weight': [hiddenSize, queries + 2 * keys],
    'attn_output.weight': [queries, hiddenSize],
    'attn_output.bias': [hiddenSize],
    'attn_q_norm.weight': [queryKeyNorm === 'all' ? queries : headSize],
    'attn_k_norm.weight': [queryKeyNorm === 'all' ? keys : headSize],
    'attn_sinks.weight': [numHeads],
    'ffn_gate.weight': [hiddenSize, null],
    'ffn_up.weight': [hiddenSize, null],
    'ffn_down.weight': [null, hiddenSize],
    'ffn_gate_inp.weight': [hiddenSize, experts],
    'ffn_gate_exps.weight': [hiddenSize, null, experts],
    'ffn_up_exps.weight': [hiddenSize, null, experts],
    'ffn_down_exps.weight': [null, hiddenSize, experts],
  };
}

function fits(shape: readonly number[], expected: Expected): boolean {
  return shape.length === expected.length && shape.every((size, index) => size === (expected[index] ?? size));
}

/** What goes up must come down: the width between both is in no configuration. */
function checkMlp(tensors: ReadonlyMap<string, WeightTensor>, layer: string, path: string): void {
  const shapeOf = (part: string) => tensors.get(`${layer}.${part}.weight`)?.shape;
  const [gate, up, down = []] = ['ffn_gate', 'ffn_up', 'ffn_down'].map(shapeOf);
  const width = down[0] ?? 0;
  // Without a gate of its own it is the first half of the other matrix.
  const upWidth = gate ? width : 2 * width;
  if (up && up[1] !== upWidth) throw misfit(path, `${layer}.ffn_up.weight`, up, [null, upWidth]);
  if (gate && gate[1] !== width) throw misfit(path, `${layer}.ffn_gate.weight`, gate, [null, width]);
}

function misfit(path: string, name: string, shape: readonly number[], expected: Expected): ModelError {
  const wanted = expected.map((size) => size ?? 'any').join(', ');
  return new ModelError(
    `${path}: tensor "${name}" has the shape [${shape.join(', ')}] (columns first), but the configuration wants [${wanted}].`,
  );
}
