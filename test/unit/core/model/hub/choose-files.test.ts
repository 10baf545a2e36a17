import {describe, expect, it} from 'vitest';
import {chooseFiles, quantizationOf, sizeText, type Wish} from '../../../../../src/core/model/hub/choose-files.ts';
import {parseHubId} from '../../../../../src/core/model/hub/hub-id.ts';

const filesOf = (...paths: string[]) => paths.map((path, index) => ({path, numBytes: (index + 1) * 1_000_000}));
const wish = (changes: Partial<Wish> = {}): Wish => ({name: 'owner/model', selector: null, dtype: 'auto', ...changes});
const pathsOf = (files: {path: string}[]) => files.map(({path}) => path);

const text = ['config.json', 'tokenizer.json', 'chat_template.jinja', 'additional_chat_templates/tool_use.jinja'];

describe('chooseFiles', () => {
  it('takes safetensors with all shards and the files of the text side', () => {
    const choice = chooseFiles(
      filesOf(
        ...text,
        'README.md',
        'pytorch_model.bin',
        'onnx/model.onnx',
        'original/model.safetensors',
        'model.safetensors.index.json',
        'model-00001-of-00002.safetensors',
        'model-00002-of-00002.safetensors',
        'model.safetensors',
      ),
      wish(),
    );
    expect(choice).toMatchObject({kind: 'safetensors', weightsPath: null, note: null});
    expect(pathsOf(choice.text)).toEqual(text);
    expect(pathsOf(choice.weights)).toEqual([
      'model.safetensors.index.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
    ]);
  });

  it('takes a graph with its data when a data type is named, and where there is nothing else', () => {
    const files = filesOf(
      'config.json',
      'model.safetensors',
      'onnx/model.onnx',
      'onnx/model.onnx_data',
      'onnx/model.onnx_data_1',
      'onnx/model_q4.onnx',
      'onnx/model_q4.onnx_data',
    );
    const q4 = chooseFiles(files, wish({dtype: 'q4'}));
    expect(pathsOf(q4.weights)).toEqual(['onnx/model_q4.onnx', 'onnx/model_q4.onnx_data']);
    expect(chooseFiles(files, wish({selector: 'q4'})).weightsPath).toBe('onnx/model_q4.onnx');
    const exact = chooseFiles(
      files.filter(({path}) => path !== 'model.safetensors'),
      wish(),
    );
    expect(pathsOf(exact.weights)).toEqual(['onnx/model.onnx', 'onnx/model.onnx_data', 'onnx/model.onnx_data_1']);
    expect(() => chooseFiles(files, wish({dtype: 'fp16'}))).toThrow('no graph for --dtype fp16. It has: fp32, q4');
  });

  const quantized = filesOf(
    'Model-Q8_0.gguf',
    'Model-Q4_K_M.gguf',
    'Model-IQ2_M.gguf',
    'mmproj-Model-F16.gguf',
    'split/Model-F16-00001-of-00002.gguf',
  );

  it('takes a usable quantization of several and says what else there is', () => {
    const choice = chooseFiles(quantized, wish());
    expect(choice).toMatchObject({kind: 'gguf', weightsPath: 'Model-Q4_K_M.gguf'});
    expect(choice.note).toMatch(/takes Model-Q4_K_M.gguf; .*owner\/model:Q8_0.*Model-IQ2_M.gguf \(3.0 MB\)/);
    expect(choice.note).not.toContain('mmproj');
  });

  it.each([
    ['q8_0', 'Model-Q8_0.gguf'],
    ['Model-IQ2_M', 'Model-IQ2_M.gguf'],
    ['*iq2*', 'Model-IQ2_M.gguf'],
    ['mmproj-Model-F16.gguf', 'mmproj-Model-F16.gguf'],
  ])('takes what %s says', (selector, path) => {
    expect(chooseFiles(quantized, wish({selector})).weightsPath).toBe(path);
  });

  it.each([null, 'F16', '*00002*', 'split/Model-F16-00001-of-00003.gguf'])(
    'takes all parts of a model for %s',
    (selector) => {
      const parts = [1, 2, 3].map((part) => `split/Model-F16-0000${part}-of-00003.gguf`);
      const choice = chooseFiles(filesOf('Model-Q2_K.gguf', 'config.json', ...parts), wish({selector}));
      expect(choice).toMatchObject({kind: 'gguf', weightsPath: parts[0]});
      expect(pathsOf(choice.weights)).toEqual(parts);
    },
  );

  it.each([
    [quantized, 'Q3_K', 'has no file for "Q3_K". There are: Model-Q8_0.gguf'],
    [quantized, '*.gguf', 'fits 5 files'],
    [quantized, 'constructor', 'has no file for "constructor"'],
    [quantized, '*00001*', 'owner/model lacks split/Model-F16-00002-of-00002.gguf'],
    [filesOf('a-IQ1_S.gguf', 'b-IQ1_M.gguf'), null, 'for example owner/model:IQ1_S'],
    [filesOf('pytorch_model.bin'), null, 'pytorch_model.bin, which is of a kind that cannot be loaded'],
    [[], null, 'no weights that can be served'],
  ])('says what there is instead (%#)', (files, selector, message) => {
    expect(() => chooseFiles(files, wish({selector}))).toThrow(message);
  });
});

describe('names', () => {
  it.each([
    ['SmolLM2-135M-Instruct.Q4_1.gguf', 'Q4_1'],
    ['Qwen3-0.6B-UD-Q4_K_XL.gguf', 'UD-Q4_K_XL'],
    ['model-bf16.gguf', 'BF16'],
    ['gpt-oss-20b-mxfp4.gguf', 'MXFP4'],
    ['Qwen3-0.6B.gguf', null],
  ])('%s is of %s', (path, quantization) => {
    expect(quantizationOf(path)).toBe(quantization);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [123_456_789, '123 MB'],
    [4_200_000_000, '4.2 GB'],
  ])('%i bytes are %s', (numBytes, shown) => {
    expect(sizeText(numBytes)).toBe(shown);
  });

  it.each([
    ['Qwen/Qwen3-0.6B', {repo: 'Qwen/Qwen3-0.6B', selector: null, revision: null}],
    ['unsloth/Qwen3-GGUF:Q8_0', {repo: 'unsloth/Qwen3-GGUF', selector: 'Q8_0', revision: null}],
    ['hf.co/a/b:*q4*', {repo: 'a/b', selector: '*q4*', revision: null}],
    ['https://huggingface.co/a/b/', {repo: 'a/b', selector: null, revision: null}],
    ['https://huggingface.co/a/b/tree/v1', {repo: 'a/b', selector: null, revision: 'v1'}],
    ['https://huggingface.co/a/b/blob/main/x/y.gguf', {repo: 'a/b', selector: 'x/y.gguf', revision: 'main'}],
    ['./a/b', null],
    ['/a/b', null],
    ['a', null],
    ['a/b/c', null],
    ['a/..', null],
    ['../b', null],
    ['a--b/c', null],
  ])('%s is an id or not', (id, parsed) => {
    expect(parseHubId(id)).toEqual(parsed);
  });
});
