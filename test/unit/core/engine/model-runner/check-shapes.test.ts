import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {checkShapes} from '../../../../../src/core/engine/model-runner/builder/check-shapes.ts';
import {readHfConfig} from '../../../../../src/core/engine/model-runner/builder/hf-config.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';

const file = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  vocab_size: 100,
  max_position_embeddings: 512,
};

const shapes = {
  'token_embd.weight': [64, 100],
  'blk.0.attn_q.weight': [64, 128],
  'blk.0.attn_k.weight': [64, 64],
  'blk.0.attn_output.weight': [128, 64],
  'blk.0.ffn_gate.weight': [64, 160],
  'blk.0.ffn_up.weight': [64, 160],
  'blk.0.ffn_down.weight': [160, 64],
};

function check(changes: Record<string, number[]>) {
  const tensors = Object.entries({...shapes, ...changes}).map(
    ([name, shape]) => [name, {name, shape, layout: null}] as const,
  );
  checkShapes(readHfConfig(file, 'config.json').config, new Map(tensors), 'model');
}

describe('checkShapes', () => {
  it('lets what fits pass', () => check({}));

  it.each([
    ['token_embd.weight', [64, 99], '[64, 100]'],
    ['blk.0.attn_k.weight', [64, 32], '[64, 64]'],
    ['blk.0.attn_output.weight', [64, 64], '[128, 64]'],
    ['blk.0.ffn_up.weight', [64, 161], '[any, 160]'],
    ['blk.0.ffn_down.weight', [160], '[any, 64]'],
  ])('names %s of shape %j', (name, shape, wanted) => {
    expect(() => check({[name]: shape})).toThrow(
      `tensor "${name}" has the shape [${shape.join(', ')}] (columns first), but the configuration wants ${wanted}`,
    );
  });
});

describe('values of a config.json that make no model', () => {
  it.each([
    [{hidden_act: 'constructor'}, 'activation "constructor" is not supported'],
    [{rope_scaling: {type: '__proto__'}}, 'rope scaling "__proto__" is not supported'],
    [{head_dim: 2 ** 20}, 'head size 1048576'],
    [{max_position_embeddings: 1}, 'a context of 1 tokens is of no use'],
    [{rope_theta: 0}, 'rotary base 0 is impossible'],
    [{rope_theta: -1}, 'rotary base -1 is impossible'],
    [{rms_norm_eps: -1}, 'rms_norm_eps'],
    [{num_hidden_layers: 1e9}, 'num_hidden_layers'],
  ])('%j', (changes, message) => {
    expect(() => readHfConfig({...file, ...changes}, 'config.json')).toThrow(message);
  });

  it('offers no more than a million positions, whatever the file says', () => {
    expect(readHfConfig({...file, max_position_embeddings: 2e9}, 'config.json').config.contextLength).toBe(2 ** 20);
  });

  it.runIf(hasSharedData)('takes dynamic scaling as none: no sequence is longer than the positions of the file', () => {
    const path = join(sharedFolder, 'models-tiny', 'llama', 'config.json');
    const content = JSON.parse(readFileSync(path, 'utf8'));
    const dynamic = readHfConfig({...content, rope_scaling: {type: 'dynamic', factor: 4}}, path).config.rotary.global;
    expect(dynamic).toMatchObject({divisors: null, amplitude: 1});
  });
});
