import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {loadModelConfig} from '../../../../src/core/model/model-config.ts';
import {resolveModel} from '../../../../src/core/model/resolve-model.ts';
import {embeddedModelFolder} from '../../../support/embedded-model.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

function expectModelError(model: string, ...parts: string[]) {
  return expect(resolveModel(model)).rejects.toMatchObject({
    name: 'ModelError',
    message: expect.stringMatching(new RegExp(`^${parts.map((part) => `(?=.*${part})`).join('')}.*$`)),
  });
}

describe('resolveModel', () => {
  it('finds the embedded model', async () => {
    const files = await resolveModel(null);
    expect(files).toMatchObject({
      displayName: 'smollm2-135m-instruct',
      folder: embeddedModelFolder,
      weightsPath: join(embeddedModelFolder, 'SmolLM2-135M-Instruct.Q4_1.gguf'),
      chatTemplatePath: join(embeddedModelFolder, 'chat_template.jinja'),
      specialTokensMapPath: null,
    });
  });

  it('takes a folder with one GGUF file, and the file itself', async () => {
    const folder = await createTemporaryFolder({
      'a.gguf': '',
      'tokenizer.json': '{}',
      'additional_chat_templates/tool_use.jinja': 'T',
      'additional_chat_templates/readme.txt': '',
    });
    const files = await resolveModel(folder);
    expect(files).toMatchObject({weightsPath: join(folder, 'a.gguf'), displayName: folder, configPath: null});
    expect([...files.additionalTemplatePaths.keys()]).toEqual(['tool_use']);
    expect((await resolveModel(join(folder, 'a.gguf'))).folder).toBe(folder);
  });

  it.each(['model.safetensors', 'model.safetensors.index.json'])('takes a folder with %s', async (name) => {
    const folder = await createTemporaryFolder({[name]: '', 'config.json': '{}', 'tokenizer.json': '{}'});
    expect(await resolveModel(folder)).toMatchObject({weightsPath: folder, configPath: join(folder, 'config.json')});
  });

  it('takes a folder with graphs in onnx, and a graph of it', async () => {
    const folder = await createTemporaryFolder({
      'onnx/model_q4.onnx': '',
      'onnx/model_fp16.onnx': '',
      'config.json': '{}',
      'tokenizer.json': '{}',
    });
    const q4 = join(folder, 'onnx', 'model_q4.onnx');
    expect(await resolveModel(folder)).toMatchObject({weightsPath: q4, folder});
    const named = await resolveModel(join(folder, 'onnx', 'model_fp16.onnx'));
    expect(named).toMatchObject({folder, tokenizerPath: join(folder, 'tokenizer.json')});
  });

  it('lists the files when there are several', async () => {
    const folder = await createTemporaryFolder({'b.gguf': '', 'a.gguf': '', 'tokenizer.json': '{}'});
    await expectModelError(folder, '2 .gguf files: a.gguf, b.gguf', 'for example');
  });

  it('takes an empty name for a mistake, not for this folder', async () => {
    await expectModelError('', 'name of the model is empty', 'Give a .gguf file');
  });

  it('says what is missing', async () => {
    const empty = await createTemporaryFolder();
    const otherKind = await createTemporaryFolder({'pytorch_model.bin': ''});
    const bare = await createTemporaryFolder({'a.gguf': ''});
    await expectModelError(empty, 'no weights', 'Give a .gguf file');
    await expectModelError(otherKind, 'pytorch_model.bin');
    await expectModelError(bare, 'a.gguf is not a readable GGUF file');
    await expectModelError(join(otherKind, 'pytorch_model.bin'), 'not a .gguf file');
  });

  it('says that a path does not exist, and what else may be named', async () => {
    await expectModelError(
      './missing.gguf',
      'no file or folder ./missing.gguf',
      'id of a model on the Hugging Face Hub',
    );
  });

  it('takes the graph of a data type, and says where there is none', async () => {
    const text = {'config.json': '{}', 'tokenizer.json': '{}'};
    const folder = await createTemporaryFolder({
      'onnx/model.onnx': '',
      'onnx/model_q4f16.onnx': '',
      'a.gguf': '',
      ...text,
    });
    expect((await resolveModel(folder, 'q4f16')).weightsPath).toBe(join(folder, 'onnx', 'model_q4f16.onnx'));
    expect((await resolveModel(folder)).weightsPath).toBe(join(folder, 'a.gguf'));
    await expect(resolveModel(folder, 'bnb4')).rejects.toThrow('no graph for --dtype bnb4. It has: fp32, q4f16.');
    const plain = await createTemporaryFolder({'model.safetensors': '', ...text});
    await expect(resolveModel(plain, 'half')).rejects.toThrow(/--dtype half chooses a graph.*--quantization/);
    expect((await resolveModel(plain, 'float32')).weightsPath).toBe(plain);
  });
});

describe('loadModelConfig', () => {
  it('reads the facts of the text side', async () => {
    expect(await loadModelConfig(join(embeddedModelFolder, 'config.json'))).toEqual({
      modelType: 'llama',
      vocabSize: 49_152,
      maxPositionEmbeddings: 8192,
      eosTokenIds: [2],
    });
    expect(await loadModelConfig(null)).toMatchObject({modelType: null, maxPositionEmbeddings: null, eosTokenIds: []});
  });

  it.each(['<html>', '{"max_position_embeddings": -1}', '{"eos_token_id": {}}'])(
    'PR-engine-10: names a damaged file: %s',
    async (text) => {
      const folder = await createTemporaryFolder({'config.json': text});
      await expect(loadModelConfig(join(folder, 'config.json'))).rejects.toMatchObject({
        name: 'ModelError',
        message: expect.stringContaining(join(folder, 'config.json')),
      });
    },
  );
});
