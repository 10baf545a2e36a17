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

  it('keeps the nine known keys only, nulls dropped', async () => {
    const all = {
      repetition_penalty: 1.5,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      temperature: 0.25,
      top_k: 7,
      top_p: 0.5,
      min_p: 0.125,
      max_new_tokens: 9,
      skip_special_tokens: false,
    };
    const {defaults} = await load({}, {...all, seed: 3, stop_token_ids: [4], max_tokens: 2, n: 5});
    expect(defaults).toEqual({
      repetitionPenalty: 1.5,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      temperature: 0.25,
      topK: 7,
      topP: 0.5,
      minP: 0.125,
      maxTokens: 9,
      skipSpecialTokens: false,
    });
    const nulls = Object.fromEntries(Object.keys(all).map((key) => [key, null]));
    expect(await load({}, nulls)).toMatchObject({defaults: {}, overrideMaxTokens: null, warning: null});
  });

  it.each<[string, object | string, Partial<GenerationConfigOptions>, string | null]>([
    ['a value that repeats the usual default', '{"temperature": 1.0}', {}, "{'temperature': 1.0}"],
    ['integers as they are written', '{"temperature": 0, "top_p": 1e0}', {}, "{'temperature': 0, 'top_p': 1.0}"],
    [
      'the renamed key last',
      {skip_special_tokens: true, max_new_tokens: 3, top_p: 1},
      {},
      "{'top_p': 1, 'skip_special_tokens': True, 'max_tokens': 3}",
    ],
    ['the override alone', {}, {override: {top_k: 0, min_p: 0.00001}}, "{'top_k': 0, 'min_p': 1e-05}"],
    ['an override that takes the only value away', {top_k: 4}, {override: {top_k: null}}, null],
    ['an override without a file', {top_k: 4}, {mode: 'vllm', override: {top_k: 5}}, null],
  ])('warns as the reference does: %s', async (_name, content, options, values) => {
    const {warning} = await load(options, content);
    if (values === null) expect(warning).toBeNull();
    else expect(warning).toContain(`\`${values}\`. If this is not intended`);
  });

  it('takes the limit of a folder after the override', async () => {
    const folder = await createTemporaryFolder({'generation_config.json': {max_new_tokens: 5}});
    expect((await load({mode: folder, override: {max_new_tokens: 9}})).overrideMaxTokens).toBe(9);
    expect((await load({mode: folder, override: {max_new_tokens: null}})).overrideMaxTokens).toBeNull();
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
