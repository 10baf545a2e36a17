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

/** What closes texts of all kinds; preferred once a text is long. */
const closing = ['"', '}', ']', '"}', '{}', '[]'];
const longAfter = 80;

/** The tokens of a test; the last one ends an answer. */
interface SmallVocabulary {
  tokens: TokenVocabulary;
  endTokenId: number;
  isClosing: (tokenId: number) => boolean;
}

/** @param closers further pieces that close something */
function smallVocabularyWith(closers: readonly string[]): SmallVocabulary {
  const spelled = [...pieces, ...closers, endText].map((piece) => new TextEncoder().encode(piece));
  const tokens = vocabulary([...Array.from({length: 256}, (_, byte) => Uint8Array.of(byte)), ...spelled]);
  const closingIds = new Set([...closing, ...closers].flatMap((text) => tokensSpelled(text, tokens)));
  return {tokens, endTokenId: tokens.ends.length - 1, isClosing: (tokenId) => closingIds.has(tokenId)};
}

function vocabulary(tokens: Uint8Array[]): TokenVocabulary {
  const bytes = Uint8Array.from(tokens.flatMap((token) => [...token]));
  let end = 0;
  const ends = Uint32Array.from(tokens, (token) => (end += token.length));
  return {bytes, ends, specialTokenIds: [tokens.length - 1]};
}

const usual = smallVocabularyWith([]);

export const smallVocabulary: TokenVocabulary = usual.tokens;

export const endTokenId = usual.endTokenId;

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

/**
 * @param nextUniform random numbers in [0, 1)
 * @param closers pieces that the vocabulary has, too, because they close what the constraint is about
 * @returns the text, once an end token came; null when it did not end
 */
export function constrainedText(
  constraint: OutputConstraint,
  nextUniform: () => number,
  maxTokens = 2000,
  closers: readonly string[] = [],
): string | null {
  const small = closers.length === 0 ? usual : smallVocabularyWith(closers);
  const compiler = new ConstraintCompiler();
  compiler.setVocabulary(small.tokens);
  const params = samplingParams({eosTokenId: small.endTokenId, constraint});
  const holder = compiler.holderFor({...params, constraint});
  const tokenIds: number[] = [];
  const logits = new Float32Array(small.endTokenId + 1);
  while (tokenIds.length < maxTokens) {
    logits.forEach((_, id) => {
      logits[id] = nextUniform() + (tokenIds.length > longAfter ? preference(id, small) : 0);
    });
    holder.hold(logits, tokenIds);
    const tokenId = logits.indexOf(Math.max(...logits));
    if (logits[tokenId] === Number.NEGATIVE_INFINITY) throw new Error('no token is left');
    if (tokenId === small.endTokenId) return spell(tokenIds, small.tokens);
    tokenIds.push(tokenId);
  }
  return null;
}

const preference = (tokenId: number, {endTokenId: end, isClosing, tokens}: SmallVocabulary): number =>
  tokenId === end ? 3 : isClosing(tokenId) ? 2 : isBlank(tokenId, tokens) ? -1 : 0;

function bytesOf(tokenId: number, {bytes, ends}: TokenVocabulary): Uint8Array {
  return bytes.subarray(tokenId === 0 ? 0 : ends[tokenId - 1], ends[tokenId]);
}

export const spell = (tokenIds: readonly number[], tokens: TokenVocabulary = smallVocabulary): string =>
  new TextDecoder('utf-8', {fatal: true}).decode(Buffer.concat(tokenIds.map((id) => bytesOf(id, tokens))));

const isBlank = (tokenId: number, tokens: TokenVocabulary): boolean =>
  [...bytesOf(tokenId, tokens)].every((byte) => byte <= 0x20);

function tokensSpelled(text: string, tokens: TokenVocabulary): number[] {
  return Array.from(tokens.ends, (_, id) => id).filter((id) => Buffer.from(bytesOf(id, tokens)).toString() === text);
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
