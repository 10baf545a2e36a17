import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {findInOtherStore} from '../../../../src/core/model/other-stores.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const digest = 'd'.repeat(64);
const manifest = {
  layers: [
    {mediaType: 'application/vnd.ollama.image.template', digest: `sha256:${'0'.repeat(64)}`},
    {mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`},
  ],
};

describe('findInOtherStore', () => {
  it.each([
    ['ollama:llama3.2', 'registry.ollama.ai/library/llama3.2/latest'],
    ['ollama:llama3.2:1b', 'registry.ollama.ai/library/llama3.2/1b'],
    ['Ollama:someone/model:q4', 'registry.ollama.ai/someone/model/q4'],
    ['ollama:hf.co/owner/model:Q8_0', 'hf.co/owner/model/Q8_0'],
  ])('finds %s', async (name, path) => {
    const root = await createTemporaryFolder({[`manifests/${path}`]: manifest});
    expect(await findInOtherStore(name, {OLLAMA_MODELS: root})).toBe(join(root, 'blobs', `sha256-${digest}`));
  });

  it('takes one of the GGUF files of a model of LM Studio', async () => {
    const root = await createTemporaryFolder({
      'owner/model/a-Q8_0.gguf': '',
      'owner/model/a-Q4_K_M.gguf': '',
      'owner/model/mmproj-a.gguf': '',
    });
    const env = {LMSTUDIO_MODELS: root};
    expect(await findInOtherStore('lmstudio:owner/model', env)).toBe(join(root, 'owner/model/a-Q4_K_M.gguf'));
    expect(await findInOtherStore('lmstudio:owner/model:q8_0', env)).toBe(join(root, 'owner/model/a-Q8_0.gguf'));
    await expect(findInOtherStore('lmstudio:owner/other', env)).rejects.toThrow(`no model owner/other in ${root}`);
  });

  it('says what is wrong, and leaves other names alone', async () => {
    const root = await createTemporaryFolder({'manifests/registry.ollama.ai/library/odd/latest': {layers: 7}});
    const env = {OLLAMA_MODELS: root};
    await expect(findInOtherStore('ollama:missing', env)).rejects.toThrow('ollama pull missing');
    await expect(findInOtherStore('ollama:odd', env)).rejects.toThrow('names no model file');
    await expect(findInOtherStore('ollama:../../etc:x', env)).rejects.toThrow('no name of a model of Ollama');
    await expect(findInOtherStore('lmstudio:one', env)).rejects.toThrow('no name of a model of LM Studio');
    expect(await findInOtherStore('owner/model', env)).toBeNull();
  });
});
