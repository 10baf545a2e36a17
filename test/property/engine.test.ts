/**
 * Laws of the engine: whatever order of requests, steps and aborts, every sequence gets exactly the tokens it would get
 * alone, every request ends exactly once, and no cache space or token of the budget is lost, also under tiny memory.
 */
import fc from 'fast-check';
import {afterEach, expect, it, vi} from 'vitest';
import type {StepResult} from '../../src/core/engine/engine-core.ts';
import {buildEngine, engineRequest, outputsOf, runToEnd, tokensOf} from '../support/build-engine.ts';
import {greedyContinuation} from '../support/fake-model-runner.ts';

const eosTokenId = 3;

/** Prompts from few beginnings, so that many share one; some are long enough to be chunked. */
const prompt = fc
  .tuple(
    fc.constantFrom(1, 2),
    fc.oneof(fc.constantFrom(0, 20, 50), fc.nat(70)),
    fc.array(fc.nat(1), {minLength: 1, maxLength: 5}),
  )
  .map(([family, sharedLength, tail]) => [
    ...Array.from({length: sharedLength}, (_, i) => (i * 7 + family * 13) % 60),
    ...tail,
  ]);

type Action =
  | {type: 'add'; prompt: number[]; maxTokens: number; priority: number; cacheSalt: string | null}
  | {type: 'step'}
  | {type: 'forget'}
  | {type: 'wait'}
  | {type: 'abort'; pick: number};

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      prompt,
      maxTokens: fc.integer({min: 1, max: 24}),
      priority: fc.integer({min: -2, max: 2}),
      cacheSalt: fc.constantFrom(null, null, 'tenant'),
    }),
  },
  {weight: 4, arbitrary: fc.record({type: fc.constant('step' as const)})},
  {weight: 1, arbitrary: fc.record({type: fc.constant('forget' as const)})},
  {weight: 1, arbitrary: fc.record({type: fc.constant('wait' as const)})},
  {weight: 1, arbitrary: fc.record({type: fc.constant('abort' as const), pick: fc.nat()})},
);

const shape = fc.record({
  numRows: fc.integer({min: 1, max: 6}),
  isGatheredAtFirstRow: fc.boolean(),
  maxNumSeqs: fc.integer({min: 1, max: 8}),
  maxNumBatchedTokens: fc.constantFrom(1, 2, 5, 16, 64),
  kvCacheTokens: fc.constantFrom(112, 128, 200, 600),
  schedulingPolicy: fc.constantFrom('fcfs' as const, 'priority' as const),
  enablePrefixCaching: fc.boolean(),
  speculation: fc.constantFrom(
    null,
    null,
    {maxDraftTokens: 1, minMatch: 1, maxMatch: 2},
    {maxDraftTokens: 4, minMatch: 1, maxMatch: 3},
  ),
});

const queueTimeoutSeconds = 30;
/** How far the clock stands ahead. */
let laterMs = 0;

function moveClock(): void {
  const realNow = performance.now.bind(performance);
  laterMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + laterMs);
}

afterEach(() => vi.restoreAllMocks());

/** A model that checks drafts and goes round in circles now and then, so that drafts come true. */
const model = {rowCapacity: 112, maxDraftTokens: 4, maxExtraLogits: 7, changeLogits: repeatNowAndThen};

/** The token that stood three places back becomes likely, most of the time. */
function repeatNowAndThen(logits: Float32Array, tokenIds: readonly number[]): void {
  const tokenId = tokenIds.at(-3);
  if (tokenId !== undefined && tokenIds.length % 7 !== 0) logits[tokenId] = 8.5;
}

it('gives each sequence its own tokens, ends each once and loses nothing', async () => {
  moveClock();
  let numRefused = 0;
  await fc.assert(
    fc.asyncProperty(
      shape,
      fc.array(action, {minLength: 1, maxLength: 40}),
      async ({numRows, isGatheredAtFirstRow, ...options}, actions) => {
        const {core, runner} = buildEngine(
          {maxModelLen: 112, queueTimeoutSeconds, ...options},
          {...model, numRows, isGatheredAtFirstRow},
        );
        const added: Extract<Action, {type: 'add'}>[] = [];
        const aborted = new Set<string>();
        const steps: StepResult[] = [];
        for (const action of actions) {
          if (action.type === 'add') {
            const {prompt, maxTokens, ...rest} = action;
            core.addRequests([engineRequest(String(added.length), prompt, {maxTokens, eosTokenId}, rest)]);
            added.push(action);
          } else if (action.type === 'abort' && added.length > 0) {
            const requestId = String(action.pick % added.length);
            aborted.add(requestId);
            core.abortRequests([requestId]);
          } else if (action.type === 'forget') {
            core.resetPrefixCache();
          } else if (action.type === 'wait') {
            laterMs += 40_000;
          } else {
            steps.push(await core.step());
            core.checkInvariants();
          }
        }
        steps.push(...(await runToEnd(core)));

        added.forEach(({prompt, maxTokens}, index) => {
          const outputs = outputsOf(steps, String(index));
          const finishes = outputs.filter(({finishReason}) => finishReason !== null);
          expect(finishes).toHaveLength(1);
          expect(outputs.at(-1)).toBe(finishes[0]);
          expect(outputs.filter(({numCachedTokens}) => numCachedTokens !== null).length).toBeLessThanOrEqual(1);
          const tokens = tokensOf(steps, String(index));
          const expected = greedyContinuation(prompt, {maxTokens, eosTokenId, changeLogits: repeatNowAndThen});
          if (finishes[0].finishReason === 'abort') expect(aborted).toContain(String(index));
          if (finishes[0].finishReason === 'error') {
            expect(finishes[0].error?.name).toBe('OverloadedError');
            expect(tokens).toEqual([]);
            numRefused++;
            return;
          }
          expect(tokens).toEqual(finishes[0].finishReason === 'abort' ? expected.slice(0, tokens.length) : expected);
        });
        const budget = options.maxNumBatchedTokens;
        for (const {decodes, prefills} of runner.batches) {
          const numTokens = [...decodes, ...prefills].reduce((sum, {tokenIds}) => sum + tokenIds.length, 0);
          expect(numTokens).toBeLessThanOrEqual(budget);
          expect(decodes.length + prefills.length).toBeLessThanOrEqual(options.maxNumSeqs);
        }
      },
    ),
    {numRuns: 300, seed: 7},
  );
  expect(numRefused).toBeGreaterThan(20);
});

it('gives seeded sequences the same tokens in any company, with and without drafts', async () => {
  const seeded = fc.record({prompt, seed: fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n})});
  await fc.assert(
    fc.asyncProperty(
      fc.array(seeded, {minLength: 1, maxLength: 6}),
      shape,
      async (requests, {numRows, isGatheredAtFirstRow, ...options}) => {
        const sampling = (seed: bigint) => ({temperature: 1, topP: 0.9, seed, maxTokens: 10});
        const engine = (speculation = options.speculation) =>
          buildEngine({maxModelLen: 112, ...options, speculation}, {...model, numRows, isGatheredAtFirstRow}).core;
        const together = engine();
        together.addRequests(requests.map(({prompt, seed}, i) => engineRequest(String(i), prompt, sampling(seed))));
        const steps = await runToEnd(together);
        for (const [index, {prompt, seed}] of requests.entries()) {
          const alone = engine(null);
          alone.addRequests([engineRequest('alone', prompt, sampling(seed))]);
          expect(tokensOf(steps, String(index))).toEqual(tokensOf(await runToEnd(alone), 'alone'));
        }
      },
    ),
    {numRuns: 60, seed: 3},
  );
});
