/**
 * Logprobs in the form of completions: four lists side by side, with the place of each token in the text
 * (vllm/entrypoints/openai/completion/serving.py, _create_completion_logprobs).
 */
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import {codePointLength} from '../../core/util/python-text.ts';
import {type LogprobsFormat, logprobShown, tokenShown} from './chat-logprobs.ts';

/** A token of the shown text. */
export interface ShownToken {
  tokenId: number;
  /** What it decodes to. */
  text: string;
  /** Null where there is nothing to say, as at the start of a prompt. */
  position: DecodedLogprobs | null;
}

/** @param textOffset characters of the answer's text before the first token */
export function completionLogprobs(tokens: readonly ShownToken[], textOffset: number, format: LogprobsFormat) {
  const texts = tokens.map((token) => tokenShown(token, format.asTokenIds));
  return {
    text_offset: offsetsOf(texts, textOffset),
    token_logprobs: tokens.map(({position}) => position && logprobShown(position[0]!)),
    tokens: texts,
    top_logprobs: tokens.map(({position}) => position && candidatesOf(position, format)),
  };
}

/** Token texts follow one another, whatever the text that belongs to them looks like. */
function offsetsOf(texts: readonly string[], start: number): number[] {
  let offset = start;
  return texts.map((text) => {
    const own = offset;
    offset += codePointLength(text);
    return own;
  });
}

/** As a map, for texts that look like numbers would lose their place among the keys of an object. */
function candidatesOf(position: DecodedLogprobs, {maxCandidates, asTokenIds}: LogprobsFormat): Map<string, number> {
  const shown = position.slice(0, maxCandidates);
  return new Map(shown.map((candidate) => [tokenShown(candidate, asTokenIds), logprobShown(candidate)]));
}
