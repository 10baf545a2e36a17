import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {detectFormats} from '../../../../src/core/parsers/detect-formats.ts';
import {ParserRegistry} from '../../../../src/core/parsers/registry.ts';
import {hasSharedData, sharedFolder} from '../../../support/shared-data.ts';

/** Template, format of calls, format of thoughts. */
const known: [string, string | null, string | null][] = [
  ['apertus', 'apertus', null],
  ['axolotl-llava', null, null],
  ['axolotl-phi-4', null, 'deepseek_r1'],
  ['bielik-v3', 'hermes', 'qwen3'],
  ['deepseek-r1-distill-qwen', 'deepseek_v3', 'qwen3'],
  ['deepseek-v3.1', 'deepseek_v31', 'deepseek_v3'],
  ['deepseek-v3.2', 'deepseek_v32', 'deepseek_v3'],
  ['deepseek-v4', 'deepseek_v4', 'deepseek_v4'],
  ['devstral-small', 'mistral', null],
  ['gemma-4', 'gemma4', 'gemma4'],
  ['gigachat3', 'gigachat3', null],
  ['glm-4.6', 'glm47', 'glm45'],
  ['glm-5.1', 'glm47', 'glm45'],
  ['gpt-oss', 'openai', 'openai_gptoss'],
  ['granite-3.3', 'granite', 'deepseek_v3'],
  ['granite-4.0', 'granite4', null],
  ['ling-3.0-flash', 'glm47', 'glm45'],
  ['minicpm5', 'minicpm5', 'qwen3'],
  ['minimax-m1', null, null],
  ['ministral-3-reasoning', 'mistral', 'mistral'],
  ['mistral-small-3.2', 'mistral', null],
  ['mixtral-8x7b', null, null],
  ['phi-3.5', null, null],
  ['qwen2.5', 'hermes', null],
  ['qwen3-coder', 'qwen3_coder', null],
  ['qwen3.5', 'qwen3_coder', 'qwen3'],
  ['qwen3', 'hermes', 'qwen3'],
  ['qwq', 'hermes', 'qwen3'],
  ['seed-oss', 'seed_oss', 'seed_oss'],
  ['smollm2', null, null],
  ['step-3.5-flash', 'qwen3_coder', 'qwen3'],
  ['vllm-chatml', null, null],
  ['vllm-deepseekr1', 'deepseek_v3', 'deepseek_r1'],
  ['vllm-hermes', 'hermes', null],
  ['vllm-internlm2_tool', 'internlm', null],
  ['vllm-llama3.1_json', 'llama3_json', null],
  ['vllm-llama3.2_pythonic', 'pythonic', null],
  ['vllm-llama4_json', 'llama4_json', null],
  ['vllm-llama4_pythonic', 'llama4_pythonic', null],
  ['vllm-mistral', 'mistral', null],
  ['vllm-phi4_mini', 'phi4_mini_json', null],
  ['vllm-toolace', 'pythonic', null],
  ['zephyr-7b-beta', null, null],
];

describe.skipIf(!hasSharedData)('formats that a chat template gives away', () => {
  const folder = join(sharedFolder, 'golden/templates');
  const read = (name: string) => readFileSync(join(folder, `${name}.jinja`), 'utf8');

  it.each(known)('%s', (name, tool, reasoning) => {
    expect(detectFormats(read(name))).toEqual({tool, reasoning});
  });

  it('are all registered', () => {
    const registry = new ParserRegistry();
    const names = readdirSync(folder).filter((name) => name.endsWith('.jinja'));
    for (const {tool, reasoning} of names.map((name) => detectFormats(read(name.replace('.jinja', ''))))) {
      if (tool !== null) expect(registry.toolNames).toContain(tool);
      if (reasoning !== null) expect(registry.reasoningNames).toContain(reasoning);
    }
  });
});
