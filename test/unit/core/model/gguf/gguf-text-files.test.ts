/** A GGUF file that stands alone brings tokenizer, template and sampling defaults; damaged ones end in a ModelError. */
import {copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {ModelError} from '../../../../../src/core/errors.ts';
import {GgufFile} from '../../../../../src/core/model/gguf/gguf-file.ts';
import {resolveModel} from '../../../../../src/core/model/resolve-model.ts';
import {loadTokenizer} from '../../../../../src/core/model/tokenizer.ts';
import {Random} from '../../../../../src/core/sampling/random.ts';
import {temporaryCacheForEach} from '../../../../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';

const tiny = path.join(sharedFolder, 'models-tiny');
const gguf = path.join(tiny, 'qwen2', 'gguf', 'qwen2-Q4_0.gguf');

const temporary = temporaryCacheForEach();

describe.skipIf(!hasSharedData)('a GGUF file alone', () => {
  test('encodes the recorded prompts', async () => {
    const tokenizer = await loadTokenizer(await resolveModel(gguf));
    const {prompts} = JSON.parse(readFileSync(path.join(tiny, 'prompts.json'), 'utf8'));
    for (const {text, tokens, ids = tokens} of prompts) {
      expect(await tokenizer.encode(text, {addSpecialTokens: true})).toEqual(ids);
      expect(tokenizer.decode(ids, {skipSpecialTokens: false})).toBe(text);
    }
    expect(tokenizer.specialTokens.get('eos_token')).toBe('<|im_end|>');
  });

  test('brings its template and sampling defaults, as the folder it was made of', async () => {
    const files = await resolveModel(gguf);
    const config = JSON.parse(readFileSync(files.tokenizerConfigPath as string, 'utf8'));
    const template = readFileSync(path.join(tiny, 'qwen2', 'chat_template.jinja'), 'utf8');
    expect(config.chat_template).toEqual([{name: 'default', template}]);
    expect(JSON.parse(readFileSync(files.generationConfigPath as string, 'utf8'))).toEqual({
      eos_token_id: [505, 503],
      temperature: 0.6,
      top_k: 20,
      top_p: 0.95,
    });
  });

  test('is below the files beside it', async () => {
    const folder = path.join(temporary.folder, 'model');
    mkdirSync(folder);
    copyFileSync(gguf, path.join(folder, 'a.gguf'));
    writeFileSync(path.join(folder, 'generation_config.json'), '{}');
    const files = await resolveModel(folder);
    expect(files.generationConfigPath).toBe(path.join(folder, 'generation_config.json'));
    expect(existsSync(files.tokenizerPath)).toBe(true);
  });

  test('changed bytes end in a ModelError or in a file that can be read', async () => {
    const random = Random.fromSeed(11n);
    const original = readFileSync(gguf);
    const file = path.join(temporary.folder, 'changed.gguf');
    for (let round = 0; round < 100; round++) {
      const bytes = Buffer.from(original);
      for (let change = 0; change < 4; change++)
        bytes[Math.floor(random.nextUniform() * 16_000)] = random.nextUint32() & 255;
      writeFileSync(file, bytes);
      const opened = await GgufFile.open(file).catch((error: unknown) => error);
      if (opened instanceof GgufFile) await opened.close();
      else expect(opened).toBeInstanceOf(ModelError);
    }
  });
});
