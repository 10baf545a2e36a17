import {access, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it, onTestFinished, vi} from 'vitest';
import {silentLogger} from '../../../src/core/util/logger.ts';
import {modelsOptionsSchema} from '../../../src/models/options.ts';
import {type ModelAction, type ModelsContext, runModels} from '../../../src/models/run-models.ts';
import {defaultCommit, startFakeHub} from '../../support/fake-hub.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const template = '{% for m in messages %}<tool_call>{{ m.content }}</tool_call><think>{% endfor %}';
const files = {
  'config.json': '{"model_type":"qwen3","max_position_embeddings":4096}',
  'tokenizer.json': '{}',
  'chat_template.jinja': template,
  'onnx/model_q4.onnx': Buffer.alloc(5000, 'q4'),
  'onnx/model_q4.onnx_data': Buffer.alloc(7000, 'data'),
};

async function open() {
  const hub = await startFakeHub({'owner/model': {files}});
  onTestFinished(() => hub.close());
  vi.stubEnv('HF_ENDPOINT', hub.url);
  const downloadDir = join(await createTemporaryFolder(), 'hub');
  const lines: string[] = [];
  const run = async (
    action: ModelAction,
    model: string | null = null,
    options: object = {},
    confirm: ModelsContext['confirm'] = null,
  ) => {
    lines.length = 0;
    const request = {...modelsOptionsSchema.parse({downloadDir, ...options}), json: false, ...options, action, model};
    const signal = new AbortController().signal;
    await runModels(request, {
      write: (line) => lines.push(line),
      logger: silentLogger,
      signal,
      onProgress: () => {},
      confirm,
    });
    return [...lines];
  };
  return {hub, run, downloadDir};
}

describe('parlance models', () => {
  beforeEach(() => {
    for (const name of ['HF_TOKEN', 'HF_HUB_OFFLINE', 'HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, undefined);
  });
  afterEach(() => vi.unstubAllEnvs());

  it('pulls, lists, describes and removes', async () => {
    const {run, downloadDir} = await open();
    expect(await run('list')).toEqual([`No models in ${downloadDir}. Download one: parlance models pull owner/name`]);
    const folder = join(downloadDir, 'models--owner--model');
    expect(await run('pull', 'owner/model')).toEqual([`owner/model is in ${join(folder, 'snapshots', defaultCommit)}`]);

    const [header, row, total] = await run('list');
    expect(header).toMatch(/^MODEL +SIZE +LAST USED +FILES$/);
    expect(row).toMatch(/^owner\/model +12\.1 kB +\d{4}-\d\d-\d\d +onnx\/model_q4\.onnx$/);
    expect(total).toBe(`1 model, 12.1 kB in ${downloadDir}`);
    const [json] = await run('list', null, {json: true});
    expect(JSON.parse(json!)).toMatchObject({
      folder: downloadDir,
      models: [{model: 'owner/model', unfinished_bytes: 0, revisions: [{commit: defaultCommit, refs: ['main']}]}],
    });

    const description = (await run('inspect', 'owner/model')).join('\n');
    expect(description).toMatch(/Weights +onnx: model_q4.onnx, model_q4.onnx_data \(12.0 kB\)/);
    expect(description).toMatch(/Context +4,096 tokens/);
    expect(description).toMatch(/Tool call parser +hermes/);

    await expect(run('remove', 'owner/model')).rejects.toThrow('needs --yes');
    const questions: string[] = [];
    const refuse = async (question: string) => questions.push(question) > 99;
    await expect(run('remove', 'owner/model', {}, refuse)).rejects.toThrow('Nothing was removed');
    expect(questions).toEqual([`Remove owner/model with 12.1 kB from ${folder}? [y/N] `]);
    expect(await run('remove', 'owner/model', {}, async () => true)).toEqual(['Removed owner/model: 12.1 kB']);
    await expect(access(folder)).rejects.toThrow();
    await expect(run('remove', 'owner/model', {yes: true})).rejects.toThrow('is not in');
  });

  it('describes files on this disk, and the embedded model', async () => {
    const {run} = await open();
    const [json] = await run('inspect', null, {json: true});
    expect(JSON.parse(json!)).toMatchObject({kind: 'gguf', architecture: 'llama', context_length: 8192});
    expect(JSON.parse(json!).tensor_types.Q4_1).toBe(210);
  });

  it('shows a download that was not finished', async () => {
    const {run, downloadDir} = await open();
    const blobs = join(downloadDir, 'models--owner--other', 'blobs');
    await mkdir(blobs, {recursive: true});
    await writeFile(join(blobs, `${'a'.repeat(64)}.parlance-incomplete`), 'x'.repeat(2000));
    expect((await run('list'))[1]).toMatch(/owner\/other +2\.0 kB .* unfinished 2\.0 kB$/);
  });

  it('says what it needs', async () => {
    const {run} = await open();
    await expect(run('pull')).rejects.toMatchObject({name: 'UsageError', hint: 'parlance models pull owner/name'});
    await expect(run('remove', './folder')).rejects.toThrow('only what was downloaded');
  });
});
