import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {type GenerationConfigOptions, loadGenerationConfig} from '../../../../src/core/config/generation-config.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const modelFileContent = {
  temperature: 0.6,
  top_k: 20,
  max_new_tokens: 9,
  eos_token_id: [505, 503],
  do_sample: true,
  top_p: null,
};

async function load(options: Partial<GenerationConfigOptions>, content: object | string = modelFileContent) {
  const folder = await createTemporaryFolder({'generation_config.json': content});
  return loadGenerationConfig({
    mode: 'auto',
    modelFile: join(folder, 'generation_config.json'),
    override: null,
    modelEosTokenIds: [7],
    ...options,
  });
}

describe('loadGenerationConfig', () => {
  it('takes the known keys of the model file, and all its end ids', async () => {
    const {defaults, eosTokenIds, overrideMaxTokens} = await load({});
    expect(defaults).toEqual({temperature: 0.6, topK: 20, maxTokens: 9});
    expect(eosTokenIds).toEqual([505, 503]);
    expect(overrideMaxTokens).toBeNull();
  });

  it('warns of the values that change sampling', async () => {
    expect((await load({})).warning).toBe(
      "Default vLLM sampling parameters have been overridden by the model's `generation_config.json`: " +
        "`{'temperature': 0.6, 'top_k': 20, 'max_tokens': 9}`. If this is not intended, please relaunch vLLM instance " +
        'with `--generation-config vllm`.',
    );
    expect((await load({}, {eos_token_id: 2})).warning).toBeNull();
  });

  it('replaces single values by the override, null included', async () => {
    const {defaults} = await load({override: {temperature: null, top_k: 3, unknown_key: 1}});
    expect(defaults).toEqual({topK: 3, maxTokens: 9});
  });

  it('makes max_new_tokens of the override a limit', async () => {
    const {defaults, overrideMaxTokens} = await load({override: {max_new_tokens: 4}});
    expect([defaults.maxTokens, overrideMaxTokens]).toEqual([4, 4]);
    expect((await load({mode: 'vllm', override: {max_new_tokens: 4}})).overrideMaxTokens).toBe(4);
  });

  it('reads no values with vllm, but the end ids', async () => {
    const {defaults, eosTokenIds, warning} = await load({mode: 'vllm'});
    expect([defaults, eosTokenIds, warning]).toEqual([{}, [505, 503], null]);
  });

  it('reads a folder, whose max_new_tokens is a limit', async () => {
    const folder = await createTemporaryFolder({'generation_config.json': {max_new_tokens: 5, eos_token_id: 2}});
    const {defaults, overrideMaxTokens, eosTokenIds, warning} = await load({mode: folder});
    expect([defaults, overrideMaxTokens, eosTokenIds]).toEqual([{maxTokens: 5}, 5, [2]]);
    expect(warning).toContain(`overridden by \`${folder}\``);
  });

  it('takes the end ids of config.json when the model has no generation config', async () => {
    const {defaults, eosTokenIds} = await load({modelFile: null});
    expect([defaults, eosTokenIds]).toEqual([{}, [7]]);
  });

  it('names the folder that has no file', async () => {
    const folder = await createTemporaryFolder();
    await expect(load({mode: folder})).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(folder),
    });
    await expect(load({mode: 'atuo'})).rejects.toMatchObject({name: 'UsageError'});
  });

  it.each([['<html>'], ['[1]'], [{temperature: 'hot'}], [{eos_token_id: 'x'}]])(
    'names the damaged file: %j',
    async (content) => {
      await expect(load({}, content)).rejects.toMatchObject({
        name: 'ModelError',
        message: expect.stringContaining('generation_config.json'),
      });
    },
  );
});

it('refuses an override of the wrong type and says which key', async () => {
  await expect(load({override: {top_k: 'many'}})).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining('top_k'),
  });
});
