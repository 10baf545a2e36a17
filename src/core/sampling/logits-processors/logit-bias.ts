/** `logit_bias`: a number added to the logits of single tokens. */
import type {LogitsProcessorFactory} from './logits-processor.ts';

export const logitBias: LogitsProcessorFactory = ({logitBias: biases}) => {
  if (biases.length === 0) return null;
  return {
    apply(logits) {
      for (const [id, bias] of biases) logits[id] += bias;
    },
  };
};
