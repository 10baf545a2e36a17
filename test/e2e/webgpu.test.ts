/**
 * The GPU path on a Vulkan driver in software, with a tiny model: recorded logits in chunks, token by token, as rows of a
 * batch and after moves of rows; and answers through HTTP that equal those of the CPU. Compiling shaders takes most of
 * the time.
 */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {LoadedModel} from '../../src/core/engine/model-runner/load-model.ts';
import type {RowChunk} from '../../src/core/engine/model-runner/model-runner.ts';
import {largestDifference, loadForTest, temporaryFolder} from '../support/run-model.ts';
import {type ServeProcess, startServe} from '../support/serve-process.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';
import {useVulkanHere, vulkanEnvironment, whyNoVulkan} from '../support/software-vulkan.ts';

interface Prompt {
  id: string;
  tokens: number[];
  logits: number[][];
}

const tolerance = 1e-3;
const modelsFolder = path.join(sharedFolder, 'models-tiny');
const modelPath = path.join(modelsFolder, 'llama/gguf/llama-Q4_0.gguf');
const whySkipped = hasSharedData ? whyNoVulkan : 'no shared data';
const title = `webgpu on software Vulkan${whySkipped === null ? '' : ` (skipped: ${whySkipped})`}`;

describe.skipIf(whySkipped !== null)(title, () => {
  describe('the runner', () => {
    const cache = temporaryFolder();
    let loader: unknown;
    let model: LoadedModel;
    let prompts: Prompt[];

    beforeAll(async () => {
      loader = useVulkanHere();
      prompts = JSON.parse(readFileSync(modelPath.replace(/gguf$/, 'golden.json'), 'utf8')).prompts;
      const options = {device: 'webgpu', activationPrecision: 'float32', modelCacheDir: cache.folder} as const;
      model = await loadForTest(modelPath, {...options, maxModelLen: 256});
    });
    afterAll(() => {
      model?.runner.close();
      cache[Symbol.dispose]();
      expect(loader).toBeDefined();
    });

    const run = async (prefills: RowChunk[], decodes: RowChunk[] = []) =>
      Float32Array.from(await model.runner.execute({prefills, decodes}));
    const prefill = (row: number, tokenIds: number[], start = 0, numLogits = 0) =>
      run([{row, start, tokenIds, numLogits}]);
    const lastOf = (row: number, {tokens}: Prompt) => ({
      row,
      start: tokens.length - 1,
      tokenIds: tokens.slice(-1),
      numLogits: 1,
    });
    /** Of each row's next token against the recording. */
    const differences = (logits: Float32Array, expected: readonly Prompt[]) =>
      expected.map((prompt, row) => {
        const own = logits.subarray(row * model.runner.vocabSize, (row + 1) * model.runner.vocabSize);
        return largestDifference(own, prompt.logits.at(-1) as number[]);
      });

    test('says where it runs', () => {
      expect(model.info).toMatchObject({device: 'webgpu', deviceReason: 'asked for', maxNumSeqs: 4});
    });

    test.each([1000, 7])('prompts in chunks of %i, in turn', async (length) => {
      const numChunks = Math.ceil(Math.max(...prompts.map(({tokens}) => tokens.length)) / length);
      const last = new Map<string, Float32Array>();
      for (let start = 0; start < numChunks * length; start += length) {
        for (const [row, {id, tokens}] of prompts.entries()) {
          const own = tokens.slice(start, start + length);
          if (own.length > 0) last.set(id, await prefill(row + 1, own, start, 1));
        }
      }
      for (const prompt of prompts) {
        expect(largestDifference(last.get(prompt.id)!, prompt.logits.at(-1) as number[]), prompt.id).toBeLessThan(
          tolerance,
        );
      }
    });

    test('token by token', async () => {
      const prompt = prompts.find(({tokens}) => tokens.length > 2 && tokens.length <= 40) as Prompt;
      let logits = await prefill(0, prompt.tokens.slice(0, 2));
      for (let start = 2; start < prompt.tokens.length; start++) {
        logits = await run([], [{row: 0, start, tokenIds: prompt.tokens.slice(start, start + 1), numLogits: 1}]);
      }
      expect(Math.max(...differences(logits, [prompt]))).toBeLessThan(tolerance);
    });

    test('rows of a batch, also after they were exchanged and copied', async () => {
      const [a, b] = prompts.filter(({tokens}) => tokens.length > 1) as [Prompt, Prompt];
      for (const [row, {tokens}] of [a, b].entries()) await prefill(row, tokens.slice(0, -1));
      const batch = await run([], [lastOf(0, a), lastOf(1, b)]);
      expect(Math.max(...differences(batch, [a, b]))).toBeLessThan(tolerance);

      const [lengthA, lengthB] = [a, b].map(({tokens}) => tokens.length - 1) as [number, number];
      model.runner.swapRows(0, lengthA, 1, lengthB);
      model.runner.copyRow(0, 3, lengthB);
      model.runner.copyRow(1, 2, lengthA);
      model.runner.swapRows(0, lengthB, 2, lengthA);
      const moved = await run([], [lastOf(0, a), lastOf(1, a), lastOf(2, b), lastOf(3, b)]);
      expect(Math.max(...differences(moved, [a, a, b, b]))).toBeLessThan(tolerance);
    });

    test('a row that is continued as a prompt after it has decoded', async () => {
      const prompt = prompts.find(({tokens}) => tokens.length > 20) as Prompt;
      await prefill(0, prompt.tokens.slice(0, 8));
      await run([], [{row: 0, start: 8, tokenIds: prompt.tokens.slice(8, 9), numLogits: 1}]);
      const logits = await prefill(0, prompt.tokens.slice(9), 9, 1);
      expect(Math.max(...differences(logits, [prompt]))).toBeLessThan(tolerance);
    });
  });

  describe('the server', () => {
    const messages = ['one', 'two three', 'a longer question, so that rows differ'];
    let server: ServeProcess;
    afterAll(async () => void (await server?.stop()));

    const answersWith = async (argv: string[]) => {
      const options = ['--max-model-len', '256', '--max-num-seqs', '4', '--activation-precision', 'float32'];
      server = await startServe({argv: [modelPath, ...options, ...argv], env: vulkanEnvironment()});
      const answers = await Promise.all(messages.map((content) => ask(server.url, content)));
      expect(await server.stop()).toEqual({code: 0, signal: null});
      expect(server.stderr()).not.toMatch(/died|Segmentation/);
      return answers;
    };

    test('gives the greedy answers of the CPU, several at once', async () => {
      const expected = await answersWith(['--device', 'cpu']);
      const actual = await answersWith(['--device', 'webgpu']);
      expect(server.logMessages().join('\n')).toContain('webgpu (asked for)');
      expect(actual).toEqual(expected);
    });

    test('refuses models that the device would compute wrongly', async () => {
      const argv = [path.join(modelsFolder, 'gemma2'), '--device', 'webgpu'];
      await expect(startServe({argv, env: vulkanEnvironment()})).rejects.toThrow('soft cap');
    });
  });
});

async function ask(url: string, content: string): Promise<string> {
  const body = {messages: [{role: 'user', content}], temperature: 0, max_tokens: 12, ignore_eos: true};
  const headers = {'content-type': 'application/json'};
  const response = await fetch(`${url}/v1/chat/completions`, {method: 'POST', headers, body: JSON.stringify(body)});
  const answer = (await response.json()) as {choices: {message: {content: string}}[]};
  return answer.choices[0]!.message.content;
}
