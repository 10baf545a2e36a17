import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import type {StartEngine} from '../../../src/core/engine/client/start-engine.ts';
import {ModelError} from '../../../src/core/errors.ts';
import {type LoadLlmOptions, type LoadProgress, loadLlm} from '../../../src/core/llm.ts';
import {usualLoadOptions} from '../../../src/core/usual-load-options.ts';
import type {Logger} from '../../../src/core/util/logger.ts';
import {embeddedModelFolder} from '../../support/embedded-model.ts';
import {playTokens, ScriptedEngineClient} from '../../support/scripted-engine-client.ts';
import {createTemporaryFolder} from '../../support/temporary-folder.ts';

const defaultOptions: LoadLlmOptions = {
  ...usualLoadOptions,
  model: null,
  engine: engineOptionsSchema.parse({}),
};

function recordWarnings() {
  const warnings: string[] = [];
  const logger: Logger = {debug() {}, info() {}, warn: (_fields, message) => warnings.push(message), error() {}};
  return {warnings, logger};
}

async function load(options: Partial<LoadLlmOptions> = {}, startEngine?: StartEngine) {
  const engine = new ScriptedEngineClient({script: () => playTokens([2])});
  const {warnings, logger} = recordWarnings();
  const progress: LoadProgress[] = [];
  const context = {
    logger,
    onProgress: (step: LoadProgress) => progress.push(step),
    signal: new AbortController().signal,
    startEngine: startEngine ?? (async () => engine),
  };
  return {...(await loadLlm({...defaultOptions, ...options}, context)), engine, warnings, progress};
}

describe('loadLlm', () => {
  it('loads the embedded model', async () => {
    const {llm, files, templateSource, warnings, progress} = await load();
    expect(files.displayName).toBe('smollm2-135m-instruct');
    expect(templateSource).toBe(join(embeddedModelFolder, 'chat_template.jinja'));
    expect(llm.isAlive()).toBe(true);
    expect(warnings).toEqual([]);
    expect(progress[0]).toMatchObject({stage: 'resolve', fraction: 1});
  });

  it('gives the engine its options with the path of the weights', async () => {
    const configs: unknown[] = [];
    await load({engine: engineOptionsSchema.parse({maxModelLen: 64})}, async (config) => {
      configs.push(config);
      return new ScriptedEngineClient({script: () => []});
    });
    expect(configs).toEqual([expect.objectContaining({maxModelLen: 64, modelPath: expect.stringMatching(/\.gguf$/)})]);
  });

  it('warns of sampling defaults and of a template that fails on a first try', async () => {
    const {warnings} = await load({
      overrideGenerationConfig: {temperature: 0},
      chatTemplate: '{{ raise_exception("no system message") }}',
    });
    expect(warnings).toEqual([
      expect.stringContaining("{'temperature': 0}"),
      expect.stringContaining('no system message'),
    ]);
  });

  it('PR-template-10: warns of a model without a template, or with one that cannot be used', async () => {
    const files = {
      'model.gguf': '',
      'tokenizer.json': readFileSync(join(embeddedModelFolder, 'tokenizer.json'), 'utf8'),
    };
    const warningsOf = async (more: Record<string, string>, chatTemplate: string | null = null) => {
      const model = await createTemporaryFolder({...files, ...more});
      return (await load({model, chatTemplate})).warnings;
    };
    expect(await warningsOf({})).toEqual([expect.stringMatching(/no chat template.*400.*--chat-template/)]);
    const [broken, ...others] = await warningsOf({'chat_template.jinja': 'one\n{% if %}'});
    expect(others).toEqual([]);
    expect(broken).toMatch(
      /chat_template\.jinja\) has a mistake in line 2, column \d+: [\s\S]*\^[\s\S]*400; --chat-template/,
    );
    expect(await warningsOf({'chat_template.jinja': '{% if %}'}, 'chatml')).toEqual([]);
  });

  it.each([
    [{temperature: -1}, 'temperature must be non-negative, got -1.0.'],
    [{top_p: 0}, 'top_p must be in (0, 1], got 0.0.'],
    [{max_new_tokens: 0}, 'max_tokens must be at least 1, got 0.'],
  ])('refuses the sampling defaults %j before it starts the engine', async (overrideGenerationConfig, message) => {
    const start: StartEngine = () => Promise.reject(new Error('started'));
    await expect(load({overrideGenerationConfig}, start)).rejects.toMatchObject({
      name: 'UsageError',
      message: `--override-generation-config: ${message}`,
    });
  });

  it('refuses a template path that does not exist before it starts the engine', async () => {
    const start: StartEngine = () => Promise.reject(new Error('started'));
    await expect(load({chatTemplate: './missing.jinja'}, start)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('./missing.jinja'),
    });
  });

  it('passes on why the engine did not start', async () => {
    const start: StartEngine = () => Promise.reject(new ModelError('The file is cut short.'));
    await expect(load({}, start)).rejects.toThrow('The file is cut short.');
  });

  it('PR-engine-10: stops the engine when the tokenizer is damaged', async () => {
    const folder = await createTemporaryFolder({'model.gguf': '', 'tokenizer.json': '{"model": {'});
    const engine = new ScriptedEngineClient({script: () => []});
    const signals: AbortSignal[] = [];
    const start: StartEngine = async (_config, {signal}) => {
      signals.push(signal);
      return engine;
    };
    await expect(load({model: folder}, start)).rejects.toMatchObject({name: 'ModelError'});
    expect(signals[0]!.aborted).toBe(true);
    expect(engine.isAlive()).toBe(false);
  });

  it('reads templates of tokenizer_config.json', async () => {
    const folder = await createTemporaryFolder({
      'model.gguf': '',
      'tokenizer.json': readFileSync(join(embeddedModelFolder, 'tokenizer.json'), 'utf8'),
      'tokenizer_config.json': {
        chat_template: [
          {name: 'default', template: 'D'},
          {name: 'rag', template: 'R'},
        ],
      },
    });
    expect((await load({model: folder})).templateSource).toBe(join(folder, 'tokenizer_config.json'));
    expect((await load({model: folder, chatTemplate: 'rag'})).templateSource).toBe('--chat-template');
  });
});
