/** Masks of our matcher against those of xgrammar, along random texts. */
import {beforeAll, describe, expect, it} from 'vitest';
import {CompiledConstraint} from '../../../../src/core/structured-output/compiled-constraint.ts';
import {constraintGrammar} from '../../../../src/core/structured-output/constraint-grammar.ts';
import {compileGrammar} from '../../../../src/core/structured-output/grammar-program.ts';
import {VocabularyTree} from '../../../../src/core/structured-output/token-trie.ts';
import {outputConstraint} from '../../../support/constrained-text.ts';
import {loadXGrammar, type XGrammar} from '../../../support/xgrammar.ts';

const printable = Array.from({length: 95}, (_, index) => String.fromCharCode(32 + index));
const tokens = [
  ...printable,
  '\n',
  '\t',
  'ab',
  'aab',
  '12',
  '{"',
  '":',
  '": ',
  '"}',
  ', "',
  'true',
  'yes',
  'no',
  '((',
  '))',
  'é',
  '中',
  '😀',
  'e9',
];
const endId = tokens.length;

const grammars = [
  'root ::= "yes" | "no" [!?]{1,2}',
  'root ::= item ("," item)*\nitem ::= [0-9]+ | "(" root ")"',
  'root ::= [a-z]{2,4} "x"? [^a-z]+',
  'root ::= ("a" | "ab")* "b"',
  'root ::= "{" ws pair ("," ws pair)* "}"\npair ::= "\\"" [a-z]+ "\\":" ws ("true" | [1-9] [0-9]*)\nws ::= [ \\n\\t]*',
  'root ::= "é"? [^\\x00-\\x7f]* "中"',
];

describe('token masks', () => {
  let xgrammar: XGrammar;

  beforeAll(() => {
    xgrammar = loadXGrammar();
  });

  it.each(grammars)('are those of xgrammar for %s', async (grammar) => {
    const info = await xgrammar.TokenizerInfo.createTokenizerInfo([...tokens, '<end>'], 'raw', false, endId + 1, [
      endId,
    ]);
    const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(info);
    const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
    const compiled = compile(grammar);
    let state = compiled.states.start;
    let random = 1;
    for (let step = 0; step < 40; step++) {
      const allowed = setBits(await matcher.getNextTokenBitmask());
      const ours = setBits(compiled.maskOf(state));
      expect(state.isFinal ? [...ours, endId] : ours).toEqual(allowed);
      if (ours.length === 0) return;
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      const tokenId = ours[random % ours.length]!;
      matcher.acceptToken(tokenId);
      state = compiled.followToken(state, tokenId)!;
    }
  });
});

function compile(grammar: string): CompiledConstraint {
  const pieces = [...tokens, '<end>'].map((token) => Buffer.from(token));
  let end = 0;
  const ends = Uint32Array.from(pieces, (piece) => {
    end += piece.length;
    return end;
  });
  const vocabulary = {bytes: new Uint8Array(Buffer.concat(pieces)), ends, specialTokenIds: [endId]};
  const program = compileGrammar(constraintGrammar(outputConstraint({kind: 'grammar', text: grammar})));
  return new CompiledConstraint(program, {vocabulary, tree: new VocabularyTree(vocabulary)}, false);
}

function setBits(mask: Int32Array | Uint32Array): number[] {
  return Array.from({length: endId + 1}, (_, id) => id).filter((id) => ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1);
}
