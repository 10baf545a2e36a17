/**
 * Tiny models of our own, for parts of architectures that the shared ones do not show: norms behind each part (olmo2), the
 * options of YaRN with biases, shares of experts that do not sum to 1. Logits are those of transformers 5.19 in float32.
 */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {largestDifference, loadForTest, temporaryFolder} from '../support/run-model.ts';

interface Golden {
  tokens: number[];
  positions: number[];
  logits: number[][];
}

const tolerance = 1e-3;

describe('tiny models of our own', () => {
  test.each(['olmo2', 'llama-yarn', 'qwen3-moe-shares'])('%s', async (name) => {
    const folder = path.join(import.meta.dirname, 'models', name);
    const {tokens, positions, logits}: Golden = JSON.parse(readFileSync(path.join(folder, 'golden.json'), 'utf8'));
    using cache = temporaryFolder();
    const {runner} = await loadForTest(folder, {modelCacheDir: cache.folder, activationPrecision: 'float32'});
    try {
      for (const [index, position] of positions.entries()) {
        const tokenIds = tokens.slice(0, position + 1);
        const prefills = [{row: 0, start: 0, tokenIds, numLogits: 1}];
        const last = await runner.execute({decodes: [], prefills});
        expect(largestDifference(last, logits[index] as number[]), `position ${position}`).toBeLessThan(tolerance);
      }
    } finally {
      runner.close();
    }
  });
});
