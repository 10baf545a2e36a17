/** `allowed_token_ids`: only the listed ids can be sampled. */
import {impossible, type LogitsProcessorFactory} from './logits-processor.ts';

export const allowedTokenIds: LogitsProcessorFactory = ({allowedTokenIds: ids}) => {
  if (ids === null) return null;
  const kept = new Float32Array(ids.length);
  return {
    apply(logits) {
      for (let i = 0; i < ids.length; i++) kept[i] = logits[ids[i]];
      logits.fill(impossible);
      for (let i = 0; i < ids.length; i++) logits[ids[i]] = kept[i];
    },
  };
};
