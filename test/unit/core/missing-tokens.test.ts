/** A parser that a model cannot have been trained for is used all the same, with a warning at the start. */
import {expect, it} from 'vitest';
import {warnOfMissingTokens} from '../../../src/core/load-answer-formats.ts';
import {silentLogger} from '../../../src/core/util/logger.ts';
import {answerFormats} from '../../support/answer-formats.ts';

async function warningsOf(tool: string | null, reasoning: string | null, tokens: readonly string[]) {
  const warnings: string[] = [];
  const logger = {...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message)};
  const tokenizer = {tokenToId: (token: string) => (tokens.includes(token) ? 7 : null)};
  warnOfMissingTokens(await answerFormats(tool, reasoning), tokenizer, logger);
  return warnings;
}

it('names the parser and its markers', async () => {
  expect(await warningsOf('mistral', 'deepseek_r1', ['<think>'])).toEqual([
    'the tokenizer has no token [TOOL_CALLS]: the tool call parser mistral looks for that text instead',
    'the tokenizer has no token </think>: the reasoning parser deepseek_r1 looks for that text instead',
  ]);
});

it('is silent where markers are text anyway, or are there', async () => {
  expect(await warningsOf('hermes', 'olmo3', [])).toEqual([]);
  expect(await warningsOf('mistral', 'qwen3', ['[TOOL_CALLS]', '<think>', '</think>'])).toEqual([]);
  expect(await warningsOf(null, null, [])).toEqual([]);
});
