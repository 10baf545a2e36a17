import {execFileSync} from 'node:child_process';
import {describe, expect, it} from 'vitest';
import {curlExample, listeningLine, loadedLine, readyJson, readyLine} from '../../../src/cli/ready-report.ts';

const facts = {
  url: 'http://127.0.0.1:8000',
  modelName: 'tiny',
  seconds: 2.44,
  pid: 7,
  asksForKey: false,
  numEngines: 1,
  modelInfo: {
    architecture: 'llama',
    vocabSize: 100,
    maxModelLen: 8192,
    maxNumSeqs: 32,
    maxNumBatchedTokens: 256,
    kvCacheTokens: 32_768,
    kvCacheBytesPerToken: 46_080,
    weightBytes: 98_000_000,
    device: 'cpu' as const,
    numThreads: 2,
    runtimeVersion: '1.30.0',
    loadMs: {build: 0, load: 1234, warmUp: 300},
    builtFromCache: true,
  },
};

describe('the lines at the end of the start', () => {
  it('are short and complete', () => {
    expect(readyLine(facts)).toBe('Ready after 2.4 s: tiny at http://127.0.0.1:8000, KV cache 32,768 tokens');
    expect(loadedLine(facts)).toBe(
      'Model loaded in 1.5 s (build from cache, load 1.2, warm-up 0.3), weights 98 MB, ' +
        'KV cache 1,510 MB = 32,768 tokens = 4.0 x max_model_len, cpu with 2 threads',
    );
    expect(listeningLine(facts)).toBe('Listening on http://127.0.0.1:8000');
    expect(JSON.parse(readyJson(facts))).toEqual({event: 'ready', url: 'http://127.0.0.1:8000', model: 'tiny', pid: 7});
  });

  it('say how many engines there are', () => {
    expect(loadedLine({...facts, numEngines: 3})).toMatch(/4\.0 x max_model_len, 3 engines, each of them, cpu with 2/);
  });

  it('tell of servers what is known', () => {
    const modelInfo = {...facts.modelInfo, device: 'remote' as const, runtimeVersion: 'vLLM 0.33.0', kvCacheTokens: 0};
    const remote = {...facts, modelInfo, numEngines: 2};
    expect(readyLine(remote)).toBe('Ready after 2.4 s: tiny at http://127.0.0.1:8000');
    expect(loadedLine(remote)).toBe('vLLM 0.33.0 on 2 servers, max_model_len 8,192, 100 tokens in the vocabulary');
  });

  it('name the time of a build that was needed', () => {
    const modelInfo = {...facts.modelInfo, builtFromCache: false, loadMs: {build: 5000, load: 1000, warmUp: 0}};
    expect(loadedLine({...facts, modelInfo})).toContain('Model loaded in 6.0 s (build 5.0, load 1.0, warm-up 0.0)');
  });
});

describe('the curl example', () => {
  /** The arguments that curl would get from a shell. */
  function shellWords(command: string): string[] {
    const script = command.replace(/^curl/, 'printf "%s\\n"');
    return execFileSync('sh', ['-c', script], {encoding: 'utf8', env: {VLLM_API_KEY: 'k'}})
      .trim()
      .split('\n');
  }

  it('is one line that a shell understands', () => {
    const command = curlExample(facts);
    expect(command).not.toContain('\n');
    const words = shellWords(command);
    expect(words.slice(0, 4)).toEqual([
      'http://127.0.0.1:8000/v1/chat/completions',
      '-H',
      'Content-Type: application/json',
      '-d',
    ]);
    expect(JSON.parse(words[4]!)).toEqual({
      messages: [{role: 'user', content: 'What is the capital of France?'}],
      temperature: 0,
    });
  });

  it('carries the key by its variable', () => {
    expect(shellWords(curlExample({...facts, asksForKey: true}))).toContain('Authorization: Bearer k');
    expect(curlExample(facts)).not.toContain('Authorization');
  });
});
