/** Laws of the text side: how a token stream is cut makes no difference to what comes out of it. */
import fc from 'fast-check';
import {beforeAll, describe, expect, it} from 'vitest';
import type {SequenceOutput} from '../../src/core/engine/protocol.ts';
import type {Tokenizer} from '../../src/core/model/tokenizer.ts';
import type {OutputDelta} from '../../src/core/output/output-delta.ts';
import {OutputProcessor} from '../../src/core/output/output-processor.ts';
import type {TextParams} from '../../src/core/sampling/sampling-params.ts';
import {PatternWatcher} from '../../src/core/util/held-back-text.ts';
import {embeddedTokenizer} from '../support/embedded-model.ts';

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await embeddedTokenizer();
});

/** Few letters, so that stop strings are found and nearly found. */
const letters = fc.string({unit: fc.constantFrom('a', 'b', 'c', ' ', 'é', '🌍'), minLength: 1, maxLength: 12});
const stopList = fc.array(letters, {maxLength: 4});
const tokenIds = fc.array(fc.oneof(fc.integer({min: 0, max: 600}), fc.integer({min: 0, max: 49151})), {maxLength: 40});

const textParams: fc.Arbitrary<TextParams> = fc.record({
  stop: stopList,
  includeStopStrInOutput: fc.boolean(),
  skipSpecialTokens: fc.boolean(),
  spacesBetweenSpecialTokens: fc.boolean(),
  minTokens: fc.integer({min: 0, max: 6}),
});

/** Where the stream is cut, as lengths of the pieces; what is left over is the last piece. */
const cuts = fc.array(fc.integer({min: 1, max: 5}), {maxLength: 40});

type End = Pick<SequenceOutput, 'finishReason' | 'stopReason'>;
const ends: fc.Arbitrary<End> = fc.constantFrom<End>(
  {finishReason: 'stop', stopReason: null},
  {finishReason: 'length', stopReason: null},
  {finishReason: 'abort', stopReason: null},
);

function cut(ids: readonly number[], lengths: readonly number[]): number[][] {
  const pieces: number[][] = [];
  let start = 0;
  for (const length of lengths) {
    if (start >= ids.length) break;
    pieces.push(ids.slice(start, start + length));
    start += length;
  }
  if (start < ids.length || pieces.length === 0) pieces.push(ids.slice(start));
  return pieces;
}

function run(pieces: number[][], text: TextParams, end: End): OutputDelta[] {
  const processor = new OutputProcessor({tokenizer, promptTokenIds: [1, 9690, 198], text});
  const running = {
    requestId: 'r',
    finishReason: null,
    stopReason: null,
    numCachedTokens: null,
    promptLogprobs: null,
    tokenTimesMs: [],
    start: null,
    numPreemptions: 0,
    error: null,
  };
  return pieces
    .map((newTokenIds, index) =>
      processor.process({...running, ...made(newTokenIds), ...(index === pieces.length - 1 ? end : {})}),
    )
    .filter((delta) => delta !== null);
}

/** New tokens as the engine sends them, with logprobs. */
function made(newTokenIds: number[]) {
  return {newTokenIds, logprobs: newTokenIds.map((tokenId) => [{tokenId, logprob: -tokenId, rank: 1}])};
}

function fold(deltas: OutputDelta[]): OutputDelta {
  const {finishReason, stopReason} = deltas.at(-1)!;
  return {
    text: deltas.map((delta) => delta.text).join(''),
    tokenIds: deltas.flatMap((delta) => delta.tokenIds),
    logprobs: deltas.flatMap((delta) => delta.logprobs ?? []),
    finishReason,
    stopReason,
  };
}

async function idsOfText(text: string): Promise<number[]> {
  return tokenizer.encode(text, {addSpecialTokens: false});
}

describe('OutputProcessor', () => {
  it('gives the same for every cut of random tokens', () => {
    fc.assert(
      fc.property(tokenIds, cuts, textParams, ends, (ids, lengths, text, end) => {
        expect(fold(run(cut(ids, lengths), text, end))).toEqual(fold(run([ids], text, end)));
      }),
    );
  });

  it('gives the same for every cut of text with stop strings', async () => {
    const longText = fc.string({unit: fc.constantFrom('a', 'b', 'c', ' ', 'é', '🌍'), minLength: 1, maxLength: 60});
    await fc.assert(
      fc.asyncProperty(longText, cuts, textParams, ends, async (words, lengths, text, end) => {
        const ids = await idsOfText(words);
        expect(fold(run(cut(ids, lengths), text, end))).toEqual(fold(run([ids], text, end)));
      }),
    );
  });

  it('cuts where a plain search in the whole text would', async () => {
    const longText = fc.string({unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 60});
    await fc.assert(
      fc.asyncProperty(longText, stopList, fc.boolean(), async (words, stop, includeStopStrInOutput) => {
        const text = {
          stop,
          includeStopStrInOutput,
          skipSpecialTokens: true,
          spacesBetweenSpecialTokens: true,
          minTokens: 0,
        };
        const ids = await idsOfText(words);
        const actual = fold(run(cut(ids, [1, 2, 1]), text, {finishReason: 'length', stopReason: null}));
        expect([actual.text, actual.stopReason]).toEqual(searchWhole(words, stop, includeStopStrInOutput));
      }),
    );
  });

  it('shows only text that stays', async () => {
    await fc.assert(
      fc.asyncProperty(letters, textParams, ends, async (words, text, end) => {
        const ids = await idsOfText(words.repeat(3));
        const deltas = run(
          cut(
            ids,
            ids.map(() => 1),
          ),
          text,
          end,
        );
        const whole = fold(deltas).text;
        let shown = '';
        for (const delta of deltas) {
          shown += delta.text;
          expect(whole.startsWith(shown)).toBe(true);
        }
      }),
    );
  });
});

/** The rule in its plainest form. */
function searchWhole(text: string, stop: readonly string[], includesStop: boolean): [string, string | null] {
  for (let end = 1; end <= text.length; end++) {
    const found = stop.find((candidate) => text.slice(0, end).endsWith(candidate));
    if (found !== undefined) return [text.slice(0, includesStop ? end : end - found.length), found];
  }
  return [text, null];
}

describe('PatternWatcher', () => {
  it('holds back the longest tail that begins a pattern', () => {
    const patternText = fc.string({unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 8});
    fc.assert(
      fc.property(fc.array(patternText, {minLength: 1, maxLength: 4}), fc.array(patternText), (patterns, pieces) => {
        const watcher = new PatternWatcher(patterns);
        let text = '';
        for (const piece of pieces) {
          if (watcher.feed(piece)) return;
          text += piece;
          expect(watcher.heldLength).toBe(longestBeginning(text, patterns));
        }
      }),
    );
  });
});

function longestBeginning(text: string, patterns: readonly string[]): number {
  const beginnings = patterns.flatMap((pattern) => [...pattern].map((_, length) => pattern.slice(0, length)));
  return Math.max(...beginnings.filter((beginning) => text.endsWith(beginning)).map(({length}) => length));
}
