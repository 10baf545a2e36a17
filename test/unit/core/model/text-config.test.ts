/** Language models inside of models for pictures: what their files leave out, and that they compute as they do alone. */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {readHfConfig} from '../../../../src/core/engine/model-runner/builder/hf-config.ts';
import {loadModelConfig} from '../../../../src/core/model/model-config.ts';
import {isWrapped, languageConfigOf, languageTensorName} from '../../../../src/core/model/text-config.ts';
import {largestDifference, loadForTest, temporaryFolderForEach} from '../../../support/run-model.ts';
import {renamedTensors} from '../../../support/safetensors-bytes.ts';
import {hasSharedData, sharedFolder} from '../../../support/shared-data.ts';

const temporary = temporaryFolderForEach();

const small = {hidden_size: 2560, num_hidden_layers: 34, sliding_window: 1024};

describe('languageConfigOf', () => {
  it('fills in what the file of a family leaves out', () => {
    const content = {
      model_type: 'gemma3',
      eos_token_id: [1, 106],
      text_config: {...small, model_type: 'gemma3_text', rope_scaling: {factor: 8, rope_type: 'linear'}},
      vision_config: {hidden_size: 1152},
    };
    const {config, isTied, ...rest} = readHfConfig(content, 'config.json');
    expect(rest.isWrapped).toBe(true);
    expect(isTied).toBe(true);
    expect(config).toMatchObject({
      numHeads: 8,
      numKvHeads: 4,
      headSize: 256,
      vocabSize: 262_208,
      contextLength: 131_072,
      attentionScale: 1 / 16,
      activation: 'gelu-tanh',
    });
    expect(config.rotary).toMatchObject({global: {base: 1_000_000}, local: {base: 10_000, divisors: null}});
    expect(config.layers.filter(({window}) => window === null)).toHaveLength(5);
    expect(config.layers[0]).toEqual({window: 1024, rotary: 'local'});
  });

  it('takes null for an answer, keys from outside below those inside, and the usual kind', () => {
    const content = {
      model_type: 'mistral3',
      tie_word_embeddings: true,
      eos_token_id: 2,
      text_config: {sliding_window: null, tie_word_embeddings: false},
    };
    expect(languageConfigOf(content, 'config.json')).toMatchObject({
      model_type: 'mistral',
      sliding_window: null,
      tie_word_embeddings: false,
      eos_token_id: 2,
      num_key_value_heads: 8,
    });
  });

  it('leaves other files alone and refuses what is no object', () => {
    const plain = {model_type: 'llama'};
    expect(languageConfigOf(plain, '')).toBe(plain);
    // Sees the whole prompt at once, so its language model does not compute as it does alone.
    expect(isWrapped({model_type: 'paligemma', text_config: {model_type: 'gemma2'}})).toBe(false);
    expect(() => languageConfigOf({model_type: 'gemma3', text_config: 'x'}, 'a.json')).toThrow('a.json: text_config');
    expect(() => readHfConfig({model_type: 'mistral3', text_config: {model_type: 'ministral3'}}, 'a.json')).toThrow(
      'architecture "ministral3", which is not supported',
    );
  });
});

it.each([
  ['language_model.model.layers.3.mlp.up_proj.weight', 'model.layers.3.mlp.up_proj.weight'],
  ['model.language_model.embed_tokens.weight', 'model.embed_tokens.weight'],
  ['model.text_model.norm.weight', 'model.norm.weight'],
  ['language_model.lm_head.weight', 'lm_head.weight'],
  ['lm_head.weight', 'lm_head.weight'],
  ['vision_tower.vision_model.encoder.layers.0.mlp.fc1.weight', null],
  ['model.multi_modal_projector.mm_input_projection_weight', null],
  ['model.connector.modality_projection.proj.weight', null],
  ['unknown.weight', 'unknown.weight'],
])('the tensor %s is %s', (name, plain) => {
  expect(languageTensorName(name)).toBe(plain);
});

describe.skipIf(!hasSharedData)('a wrapped model', () => {
  const source = path.join(sharedFolder, 'models-tiny', 'gemma3_text');

  /** @returns the folder of the tiny model in other clothes */
  function wrap(prefix: string, extra: readonly string[]): string {
    const folder = path.join(temporary.folder, 'wrapped');
    mkdirSync(folder);
    const {eos_token_id, rope_theta, rope_local_base_freq, sliding_window_pattern, ...text} = JSON.parse(
      readFileSync(path.join(source, 'config.json'), 'utf8'),
    );
    const config = {model_type: 'gemma3', eos_token_id, text_config: text, vision_config: {}};
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
    const rename = (name: string) => name.replace(/^model\./, prefix);
    const bytes = renamedTensors(path.join(source, 'model.safetensors'), rename, extra);
    writeFileSync(path.join(folder, 'model.safetensors'), bytes);
    return folder;
  }

  it.each(['language_model.model.', 'model.language_model.'])(
    'gives the logits of the language model, tensors below %s',
    async (prefix) => {
      const folder = wrap(prefix, ['vision_tower.vision_model.post_layernorm.weight', 'multi_modal_projector.x']);
      const {prompts} = JSON.parse(readFileSync(path.join(source, 'golden.json'), 'utf8'));
      const options = {modelCacheDir: temporary.folder, activationPrecision: 'float32', maxModelLen: 256} as const;
      const {runner, info} = await loadForTest(folder, options);
      try {
        expect(info.architecture).toBe('gemma3_text');
        for (const {tokens, logits} of prompts) {
          const made = await runner.execute({
            decodes: [],
            prefills: [{row: 0, start: 0, tokenIds: tokens, numLogits: 1}],
          });
          expect(largestDifference(made, logits.at(-1))).toBeLessThan(1e-3);
        }
      } finally {
        runner.close();
      }
      expect(await loadModelConfig(path.join(folder, 'config.json'))).toMatchObject({
        maxPositionEmbeddings: 2048,
        vocabSize: 512,
        eosTokenIds: [505],
      });
    },
  );

  it('is refused with tensors of unknown parts', async () => {
    const folder = wrap('language_model.model.', ['adapter.weight']);
    await expect(loadForTest(folder, {modelCacheDir: temporary.folder})).rejects.toThrow('(adapter.weight)');
  });
});
