import {describe, expect, it} from 'vitest';
import {ConstraintCompiler} from '../../../../src/core/structured-output/compile-constraint.ts';
import {endTokenId, outputConstraint, smallVocabulary} from '../../../support/constrained-text.ts';
import {samplingParams} from '../../../support/sampling-params.ts';

const bytes = (text: string): number[] => [...Buffer.from(text)];

/** The tokens that are left behind a text that was spelled byte by byte. */
function allowedAfter(text: string, beginning: {startsAfter: number[]; headerEnd: number[]}): number[] {
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(smallVocabulary);
  const constraint = outputConstraint({kind: 'regex', text: 'ab', ...beginning});
  const holder = compiler.holderFor({...samplingParams({eosTokenId: endTokenId}), constraint});
  const logits = new Float32Array(endTokenId + 1);
  holder.hold(logits, bytes(text));
  return [...logits.keys()].filter((id) => logits[id] === 0);
}

describe('a constraint behind a header', () => {
  const beginning = {startsAfter: bytes('<c>final'), headerEnd: bytes('<m>')};

  it('leaves what comes before alone', () => {
    for (const text of ['', '<c>analysis<m>thought', '<c>final', '<c>final json<m']) {
      expect(allowedAfter(text, beginning)).toHaveLength(endTokenId + 1);
    }
  });

  it('begins where the header ends, whatever stands in it', () => {
    expect(allowedAfter('<c>analysis<m>x<c>final<m>', beginning)).toEqual(bytes('a'));
    expect(allowedAfter('<c>final json<m>', beginning)).toEqual(bytes('a'));
    expect(allowedAfter('<c>final<m>a', beginning)).toEqual(bytes('b'));
    expect(allowedAfter('<c>final<m>ab', beginning)).toEqual([endTokenId]);
  });
});
