/**
 * Ids of a prompt in parts: each part is encoded by the tokenizer for its kind, and the results are put one behind the
 * other. Places count in code points of the whole text.
 */
import {codePointLength} from '../util/python-text.ts';
import type {PromptPart} from './prompt-parts.ts';

export interface Encoded {
  ids: number[];
  /** `[start, end]` of each id. */
  offsets: [number, number][];
}

export interface PartEncoders {
  marked(text: string): Promise<Encoded>;
  plain(text: string, place: {isInside: boolean}): Promise<Encoded>;
}

export async function encodeParts(parts: readonly PromptPart[], encoders: PartEncoders): Promise<Encoded> {
  const encoded = await Promise.all(
    parts.map(({kind, text}, index) =>
      kind === 'marked' ? encoders.marked(text) : encoders.plain(text, {isInside: index > 0}),
    ),
  );
  const starts = startsOf(parts);
  return {
    ids: encoded.flatMap(({ids}) => ids),
    offsets: encoded.flatMap(({offsets}, index) => offsets.map((place) => shifted(place, starts[index]!))),
  };
}

function startsOf(parts: readonly PromptPart[]): number[] {
  let start = 0;
  return parts.map(({text}) => {
    const own = start;
    start += codePointLength(text);
    return own;
  });
}

function shifted([start, end]: [number, number], by: number): [number, number] {
  return [start + by, end + by];
}
