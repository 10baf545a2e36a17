/** The part of node-llama-cpp that the benchmark uses. The package is no dependency, so its own types are not at hand. */
import {pathToFileURL} from 'node:url';

export interface LlamaSequence {
  readonly nextTokenIndex: number;
  compareContextTokens(tokens: readonly number[]): {firstDifferentIndex: number};
  eraseContextTokenRanges(ranges: {start: number; end: number}[]): Promise<void>;
  clearHistory(): Promise<void>;
  /** Computes the tokens and goes on with greedy ones when the temperature is 0. */
  evaluate(
    tokens: readonly number[],
    options: {temperature: number; yieldEogToken: boolean},
  ): AsyncGenerator<number, void, void>;
}

export interface LlamaContext {
  getSequence(): LlamaSequence;
}

export interface LlamaModel {
  tokenize(text: string, specialTokens: boolean): number[];
  detokenize(tokens: readonly number[], specialTokens: boolean): string;
  isEogToken(token: number): boolean;
  createContext(options: {
    sequences: number;
    /** Of one sequence. */
    contextSize: number;
    batchSize: number;
    threads: {ideal: number; min: number};
  }): Promise<LlamaContext>;
}

interface LlamaPackage {
  getLlama(options: {gpu: false; build: 'never'; logLevel: string; maxThreads: number}): Promise<{
    loadModel(options: {modelPath: string}): Promise<LlamaModel>;
  }>;
}

export interface LlamaSettings {
  /** Entry file of node-llama-cpp. */
  llamaEntry: string;
  modelPath: string;
  threads: number;
}

/** Most prompt tokens of one forward pass, as llama.cpp's own server has it (`--ubatch-size`). */
export const llamaBatchSize = 512;

export async function loadLlamaModel({llamaEntry, modelPath, threads}: LlamaSettings): Promise<LlamaModel> {
  const {getLlama} = (await import(pathToFileURL(llamaEntry).href)) as LlamaPackage;
  const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error', maxThreads: threads});
  return llama.loadModel({modelPath});
}

export async function openSequences(
  model: LlamaModel,
  options: {sequences: number; contextSize: number; threads: number},
): Promise<LlamaSequence[]> {
  const {sequences, contextSize, threads} = options;
  const context = await model.createContext({
    sequences,
    contextSize,
    batchSize: llamaBatchSize,
    threads: {ideal: threads, min: threads},
  });
  return Array.from({length: sequences}, () => context.getSequence());
}
