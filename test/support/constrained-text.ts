/**
 * Texts that a constraint lets through, made as the engine makes them: token by token, from a small vocabulary, with random
 * numbers in the place of a model. Long texts are led to their end.
 */

import type {OutputConstraint} from '../../src/core/sampling/output-constraint.ts';
import type {TokenVocabulary} from '../../src/core/sampling/token-vocabulary.ts';
import {ConstraintCompiler} from '../../src/core/structured-output/compile-constraint.ts';
import {samplingParams} from './sampling-params.ts';

/** All single bytes, and pieces as vocabularies have them. */
const pieces = [
  '{"',
  '":',
  '": ',
  '", "',
  '"}',
  '},',
  '[]',
  '{}',
  'true',
  'false',
  'null',
  '  ',
  '\n  ',
  ' "',
  '": [',
  'abc',
  'name',
  '12',
  '0.',
  '-1',
  'é',
  '😀',
  '\\"',
  '\\u00',
  'a"',
  'x',
  '<a>',
  '</',
  '</a>',
];
const endText = '<end>';

export const endTokenId = 256 + pieces.length;

export const smallVocabulary: TokenVocabulary = vocabulary([
  ...Array.from({length: 256}, (_, byte) => Uint8Array.of(byte)),
  ...[...pieces, endText].map((piece) => new TextEncoder().encode(piece)),
]);

function vocabulary(tokens: Uint8Array[]): TokenVocabulary {
  const bytes = Uint8Array.from(tokens.flatMap((token) => [...token]));
  let end = 0;
  const ends = Uint32Array.from(tokens, (token) => (end += token.length));
  return {bytes, ends, specialTokenIds: [tokens.length - 1]};
}

export function outputConstraint(
  overrides: Partial<OutputConstraint> & Pick<OutputConstraint, 'kind' | 'text'>,
): OutputConstraint {
  return {
    disablesAnyWhitespace: false,
    whitespacePattern: null,
    disablesAdditionalProperties: false,
    startsAfter: [],
    headerEnd: [],
    ...overrides,
  };
}

/** What closes texts of all kinds; preferred once a text is long. */
const closing = new Set(['"', '}', ']', '"}', '{}', '[]'].flatMap((text) => tokensSpelled(text)));
const longAfter = 80;

/**
 * @param nextUniform random numbers in [0, 1)
 * @returns the text, once an end token came; null when it did not end
 */
export function constrainedText(
  constraint: OutputConstraint,
  nextUniform: () => number,
  maxTokens = 2000,
): string | null {
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(smallVocabulary);
  const params = samplingParams({eosTokenId: endTokenId, constraint});
  const holder = compiler.holderFor({...params, constraint});
  const tokenIds: number[] = [];
  const logits = new Float32Array(endTokenId + 1);
  while (tokenIds.length < maxTokens) {
    logits.forEach((_, id) => {
      logits[id] = nextUniform() + (tokenIds.length > longAfter ? preference(id) : 0);
    });
    holder.hold(logits, tokenIds);
    const tokenId = logits.indexOf(Math.max(...logits));
    if (logits[tokenId] === Number.NEGATIVE_INFINITY) throw new Error('no token is left');
    if (tokenId === endTokenId) return spell(tokenIds);
    tokenIds.push(tokenId);
  }
  return null;
}

const preference = (tokenId: number): number =>
  tokenId === endTokenId ? 3 : closing.has(tokenId) ? 2 : isBlank(tokenId) ? -1 : 0;

function bytesOf(tokenId: number): Uint8Array {
  return smallVocabulary.bytes.subarray(
    tokenId === 0 ? 0 : smallVocabulary.ends[tokenId - 1],
    smallVocabulary.ends[tokenId],
  );
}

export const spell = (tokenIds: readonly number[]): string =>
  new TextDecoder('utf-8', {fatal: true}).decode(Buffer.concat(tokenIds.map(bytesOf)));

const isBlank = (tokenId: number): boolean => [...bytesOf(tokenId)].every((byte) => byte <= 0x20);

function tokensSpelled(text: string): number[] {
  return Array.from({length: endTokenId}, (_, id) => id).filter((id) => Buffer.from(bytesOf(id)).toString() === text);
}

/** Whether a text, spelled in single bytes, is a complete answer. */
export function accepts(constraint: OutputConstraint, text: string): boolean {
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(smallVocabulary);
  const holder = compiler.holderFor({...samplingParams({eosTokenId: endTokenId}), constraint});
  const tokenIds = [...Buffer.from(text), endTokenId];
  return tokenIds.every((tokenId, index) => {
    const logits = new Float32Array(endTokenId + 1);
    holder.hold(logits, tokenIds.slice(0, index));
    return logits[tokenId] !== Number.NEGATIVE_INFINITY;
  });
}
