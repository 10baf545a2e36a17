/** Counts the tokens of answers whose server told no count. */

import {mapInOrder} from '../datasets/map-in-order.ts';
import type {PromptTokenizer} from '../datasets/prompt-tokenizer.ts';
import {isSuccess, type RequestRecord} from '../request-record.ts';

/** Fills in the records; without a tokenizer events stay the measure. */
export async function countMissingTokens(records: readonly RequestRecord[], tokenizer: PromptTokenizer): Promise<void> {
  if (tokenizer.encoding === null) return;
  const missing = records.filter((record) => isSuccess(record) && record.completionTokens === null);
  await mapInOrder(missing, async (record) => {
    const calls = record.toolCalls.map(({name, argumentsText}) => name + argumentsText);
    const counts = [record.content, record.reasoning, record.otherTexts, ...calls].filter((text) => text !== '');
    const numTokens = await Promise.all(counts.map((text) => tokenizer.count(text)));
    record.completionTokens = numTokens.reduce((total, count) => total + count, 0);
    record.tokenCountSource = 'tokenizer';
  });
}
