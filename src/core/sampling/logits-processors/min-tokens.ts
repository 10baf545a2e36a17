/** `min_tokens`: before that many output tokens no end or stop token can be sampled (vllm/v1/sample/logits_processor/builtin.py). */
import {impossible, type LogitsProcessorFactory} from './logits-processor.ts';

export const minTokens: LogitsProcessorFactory = ({minTokens: limit, eosTokenId, stopTokenIds}) => {
  const endIds = eosTokenId === null ? stopTokenIds : [eosTokenId, ...stopTokenIds];
  if (limit === 0 || endIds.length === 0) return null;
  return {
    apply(logits, outputTokenIds) {
      if (outputTokenIds.length >= limit) return;
      for (const id of endIds) logits[id] = impossible;
    },
  };
};
