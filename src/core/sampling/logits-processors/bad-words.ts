/**
 * `bad_words`: a listed token sequence cannot be completed. Looks at the output only, as vLLM does
 * (vllm/v1/sample/ops/bad_words.py): a bad word that begins in the prompt can be completed.
 */
import {impossible, type LogitsProcessorFactory} from './logits-processor.ts';

export const badWords: LogitsProcessorFactory = ({badWordsTokenIds}) => {
  if (badWordsTokenIds.length === 0) return null;
  return {
    apply(logits, outputTokenIds) {
      for (const word of badWordsTokenIds) {
        if (endsWithAllButLastOf(word, outputTokenIds)) logits[word[word.length - 1]] = impossible;
      }
    },
  };
};

function endsWithAllButLastOf(word: readonly number[], tokenIds: readonly number[]): boolean {
  const start = tokenIds.length - (word.length - 1);
  return start >= 0 && word.every((id, index) => index === word.length - 1 || tokenIds[start + index] === id);
}
