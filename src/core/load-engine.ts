/** The engine and the tokenizer of a model, loaded side by side; and what an engine elsewhere is compared with. */
import {type DeploymentOptions, singleEngine} from './config/deployment-options.ts';
import type {EngineOptions} from './config/engine-config.ts';
import type {EngineClient} from './engine/client/engine-client.ts';
import {engineStarter, type StartEngine, type StartEngineOptions} from './engine/client/start-engine.ts';
import type {TextFacts} from './engine/client/vllm/inspect-server.ts';
import {loadModelConfig} from './model/model-config.ts';
import type {ModelFiles} from './model/resolve-model.ts';
import {loadTokenizer, type Tokenizer} from './model/tokenizer.ts';

interface LoadEngineOptions {
  engine: EngineOptions;
  /** Absent = one engine process. */
  deployment?: DeploymentOptions;
}

interface LoadEngineContext extends Omit<StartEngineOptions, 'readText'> {
  /** Replaces the engine that the options ask for. */
  startEngine?: StartEngine;
}

/**
 * Both at the same time; when the tokenizer fails, the engine is stopped.
 * @throws ModelError, UnsupportedError
 */
export async function loadEngineAndTokenizer(
  files: ModelFiles,
  {engine: engineOptions, deployment = singleEngine}: LoadEngineOptions,
  context: LoadEngineContext,
): Promise<{engine: EngineClient; tokenizer: Tokenizer}> {
  const {startEngine = engineStarter(deployment)} = context;
  const failure = new AbortController();
  const config = {...engineOptions, modelPath: files.weightsPath};
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const reading = loadTokenizer(files);
  const starting = startEngine(config, {...context, signal, readText: () => textFacts(files, reading)});
  try {
    const [tokenizer, engine] = await Promise.all([reading, starting]);
    return {tokenizer, engine};
  } catch (error) {
    failure.abort();
    await starting.then((engine) => engine.close()).catch(() => {});
    throw error;
  }
}

/** A model may have room for more tokens than its tokenizer, or a tokenizer tokens that stand for no text. */
async function textFacts({configPath}: ModelFiles, reading: Promise<Tokenizer>): Promise<TextFacts> {
  const [{vocabSize, maxPositionEmbeddings}, tokenizer] = await Promise.all([loadModelConfig(configPath), reading]);
  return {
    vocabSize: Math.max(vocabSize ?? 0, tokenizer.vocabSize),
    maxPositions: maxPositionEmbeddings,
    encode: (text) => tokenizer.encode(text, {addSpecialTokens: true}),
  };
}
