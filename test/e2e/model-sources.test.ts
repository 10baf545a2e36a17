/** Every kind of model source through the built server: tiny models, a real socket, one answer each. */
import {readdirSync, readFileSync, statSync} from 'node:fs';
import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type FakeHub, goodToken, startFakeHub} from '../support/fake-hub.ts';
import {runProgram} from '../support/run-program.ts';
import {startServe} from '../support/serve-process.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

const models = join(sharedFolder, 'models-tiny');
const prompt = 'The quick brown fox';

/** Files of a model as the Hub would list them. */
function filesOf(folder: string, below = ''): Record<string, Uint8Array> {
  const entries = readdirSync(join(folder, below)).flatMap((name): [string, Uint8Array][] => {
    const path = join(below, name);
    if (name.includes('golden')) return [];
    if (!statSync(join(folder, path)).isDirectory()) return [[path, readFileSync(join(folder, path))]];
    return Object.entries(filesOf(folder, path));
  });
  return Object.fromEntries(entries);
}

interface Answer {
  choices: {text: string; finish_reason: string; token_ids?: number[]}[];
  usage: {completion_tokens: number};
}

async function ask(url: string): Promise<{ids: number[]; model: string}> {
  const {data} = (await (await fetch(`${url}/v1/models`)).json()) as {data: {id: string}[]};
  const response = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({prompt, temperature: 0, max_tokens: 8, ignore_eos: true, return_token_ids: true}),
  });
  const {choices, usage} = (await response.json()) as Answer;
  expect(usage.completion_tokens).toBe(8);
  return {ids: choices[0]?.token_ids ?? [], model: data[0]?.id ?? ''};
}

describe.skipIf(!hasSharedData)('model sources', () => {
  let hub: FakeHub;
  let home: string;

  beforeAll(async () => {
    hub = await startFakeHub({
      'tiny/qwen3': {files: filesOf(join(models, 'qwen3'))},
      'tiny/qwen3-onnx': {files: filesOf(join(models, 'qwen3-onnx')), access: 'gated'},
      'tiny/llama-gguf': {files: filesOf(join(models, 'llama', 'gguf'))},
    });
    home = await mkdtemp(join(tmpdir(), 'parlance-sources-'));
    const digest = '5'.repeat(64);
    const manifests = join(home, 'ollama/manifests/registry.ollama.ai/library/tiny');
    await mkdir(manifests, {recursive: true});
    await mkdir(join(home, 'ollama/blobs'));
    const layers = [{mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`}];
    await writeFile(join(manifests, 'latest'), JSON.stringify({layers}));
    await symlink(join(models, 'llama/gguf/llama-Q8_0.gguf'), join(home, `ollama/blobs/sha256-${digest}`));
  });
  afterAll(async () => {
    await hub?.close();
    await rm(home, {recursive: true, force: true});
  });

  const environment = () => ({
    HF_ENDPOINT: hub.url,
    HF_HOME: join(home, 'hf'),
    HF_TOKEN: '',
    HF_HUB_OFFLINE: '0',
    OLLAMA_MODELS: join(home, 'ollama'),
    XDG_CACHE_HOME: join(home, 'cache'),
  });

  async function answerOf(argv: string[], env: Record<string, string> = {}) {
    const serving = [
      '--max-model-len',
      '128',
      '--max-num-seqs',
      '2',
      '--threads',
      '1',
      '--activation-precision',
      'float32',
    ];
    const server = await startServe({argv: [...argv, ...serving], env: {...environment(), ...env}});
    try {
      return {...(await ask(server.url)), log: server.logMessages().join('\n')};
    } finally {
      await server.stop();
    }
  }

  it.each([
    ['a GGUF file that stands alone', ['llama/gguf/llama-Q5_0.gguf']],
    ['a folder with safetensors', ['qwen3']],
    ['a folder in shards', ['mistral']],
    ['a folder rounded to 8 bits', ['llama', '--quantization', 'int8']],
    ['a folder rounded to 4 bits', ['qwen2', '--quantization', 'int4']],
    ['experts in MXFP4', ['gpt_oss']],
    ['a graph with attention in place', ['llama-onnx']],
    ['a graph in float16', ['llama-onnx', '--dtype', 'q4f16']],
    ['an older graph', ['llama-onnx-classic']],
  ])('%s', async (_, [model = '', ...flags]) => {
    const {ids, model: served} = await answerOf([join(models, model), ...flags]);
    expect(ids).toHaveLength(8);
    expect(served).toBe(join(models, model));
  });

  it('an id on the Hub gives what the folder gives, also without a network', async () => {
    const {ids} = await answerOf([join(models, 'qwen3')]);
    const online = await answerOf(['tiny/qwen3']);
    expect(online).toMatchObject({ids, model: 'tiny/qwen3'});
    expect(online.log).toMatch(/download \d+ % model\.safetensors .*431 kB/);
    expect(await answerOf(['tiny/qwen3'], {HF_HUB_OFFLINE: '1'})).toMatchObject({ids});
  });

  it('a graph on the Hub by data type, with a token', async () => {
    const refused = await runProgram(['serve', 'tiny/qwen3-onnx', '--port', '0'], {env: environment()});
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/Error: tiny\/qwen3-onnx is open only to people who have agreed/);
    const {ids} = await answerOf(['tiny/qwen3-onnx', '--dtype', 'q4'], {HF_TOKEN: goodToken});
    expect(ids).toHaveLength(8);
  });

  it('one of several GGUF files on the Hub, by rule and by name', async () => {
    const byRule = await answerOf(['tiny/llama-gguf']);
    expect(byRule.log).toMatch(/takes llama-Q4_0\.gguf; others are chosen with a colon/);
    const byName = await answerOf(['tiny/llama-gguf:q8_0']);
    const file = await answerOf([join(models, 'llama/gguf/llama-Q8_0.gguf')]);
    expect(byName.ids).toEqual(file.ids);
    expect((await answerOf(['ollama:tiny'])).ids).toEqual(file.ids);
  });

  it('models lists and removes what was downloaded', async () => {
    const env = environment();
    const listed = await runProgram(['models', '--json'], {env});
    const {models: found} = JSON.parse(listed.stdout) as {models: {model: string}[]};
    expect(found.map(({model}) => model)).toEqual(['tiny/llama-gguf', 'tiny/qwen3', 'tiny/qwen3-onnx']);
    expect((await runProgram(['models', 'remove', 'tiny/qwen3', '--yes'], {env})).stdout).toMatch(
      /^Removed tiny\/qwen3: \d+ kB\n$/,
    );
    const gone = await runProgram(['serve', 'tiny/qwen3'], {env: {...env, HF_HUB_OFFLINE: '1'}});
    expect(gone.stderr).toMatch(/tiny\/qwen3 at main is not in the cache .*HF_HUB_OFFLINE is set/);
  });
});
