/** Lengths are checked with the tokenizer of the embedded model, which is what they are promised in. */
import {beforeAll, describe, expect, it} from 'vitest';
import {type BenchOptions, benchOptionsSchema} from '../../../../src/bench/bench-options.ts';
import {readSettings} from '../../../../src/bench/bench-settings.ts';
import type {DatasetContext} from '../../../../src/bench/datasets/dataset.ts';
import {loadDataset} from '../../../../src/bench/datasets/load-dataset.ts';
import {
  agreeingTokenizer,
  estimatingTokenizer,
  localTokenizer,
  type PromptTokenizer,
} from '../../../../src/bench/datasets/prompt-tokenizer.ts';
import {conversationTurns} from '../../../../src/bench/datasets/turns.ts';
import {RandomSource} from '../../../../src/bench/load/random-source.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

let tokenizer: PromptTokenizer;
beforeAll(async () => {
  tokenizer = await localTokenizer(null);
});

function context(options: Partial<BenchOptions>, fields: Partial<DatasetContext> = {}): DatasetContext {
  const settings = readSettings(benchOptionsSchema.parse({seed: 1, ...options}));
  return {
    settings,
    tokenizer,
    random: new RandomSource(1),
    numSamples: 6,
    lengths: {input: 100, output: 10},
    ...fields,
  };
}

const textOf = (sample: {turns: {messages: Record<string, unknown>[]}[]}) =>
  String(sample.turns[0].messages[0].content);
const counts = (samples: Parameters<typeof textOf>[0][]) =>
  Promise.all(samples.map((sample) => tokenizer.count(textOf(sample))));

describe('generated data sets', () => {
  it('random: exact lengths, a common beginning, other prompts for warm-ups', async () => {
    const {samples, warmups, ignoresEos} = await loadDataset(context({randomPrefixLen: 20}), 2);
    expect(await counts(samples)).toEqual(new Array(6).fill(120));
    expect(ignoresEos).toBe(true);
    const texts = [...samples, ...warmups].map(textOf);
    expect(new Set(texts).size).toBe(8);
    expect(new Set(texts.map((text) => text.slice(0, 40))).size).toBe(1);
  });

  it('random: the same seed gives the same prompts', async () => {
    const [first, second] = await Promise.all([loadDataset(context({}), 0), loadDataset(context({}), 0)]);
    expect(first.samples).toEqual(second.samples);
  });

  it('random: lengths in the range, and what they say is true', async () => {
    const {samples} = await loadDataset(context({randomRangeRatio: '0.5'}, {numSamples: 30}), 0);
    const lengths = samples.map(({turns}) => turns[0].promptTokens as number);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(150);
    expect(new Set(lengths).size).toBeGreaterThan(10);
    expect(await counts(samples)).toEqual(lengths);
  });

  it('are measured by the server where the given tokenizer counts otherwise, and a note says so', async () => {
    const notes: string[] = [];
    const note = (line: string) => void notes.push(line);
    const ofServer: PromptTokenizer = {...tokenizer, source: 'server'};
    expect(await agreeingTokenizer(tokenizer, ofServer, note)).toBe(tokenizer);
    expect(await agreeingTokenizer(tokenizer, null, note)).toBe(tokenizer);
    expect(notes).toEqual([]);
    const other: PromptTokenizer = {...ofServer, count: async (text) => (await tokenizer.count(text)) + 1};
    expect(await agreeingTokenizer(tokenizer, other, note)).toBe(other);
    expect(notes).toEqual([
      expect.stringMatching(/^The server makes \d+ tokens .* prompts are measured by the server$/),
    ]);
  });

  it('random: without a tokenizer lengths are estimates, and a note says so', async () => {
    const {samples, notes} = await loadDataset(context({}, {tokenizer: estimatingTokenizer}), 0);
    expect(textOf(samples[0])).toHaveLength(400);
    expect(notes.join()).toContain('estimates');
  });

  it('prefix_repetition: as many beginnings as asked for', async () => {
    const options = {
      datasetName: 'prefix_repetition',
      prefixRepetitionNumPrefixes: 2,
      prefixRepetitionPrefixLen: 30,
      prefixRepetitionSuffixLen: 10,
    } as const;
    const {samples} = await loadDataset(context(options), 0);
    expect(await counts(samples)).toEqual(new Array(6).fill(40));
    expect(new Set(samples.map((sample) => textOf(sample).slice(0, 60))).size).toBe(2);
  });

  it('sonnet: lines of the text, cut to the length', async () => {
    const {samples} = await loadDataset(context({datasetName: 'sonnet', sonnetInputLen: 200, sonnetPrefixLen: 60}), 0);
    expect(await counts(samples)).toEqual(new Array(6).fill(200));
    expect(textOf(samples[0])).toContain('poem:\n');
  });
});

describe('recorded data sets', () => {
  it('sharegpt: leaves out what is too short, and takes the length of the recorded answer', async () => {
    const talk = (prompt: string, reply: string) => ({
      conversations: [
        {from: 'human', value: prompt},
        {from: 'gpt', value: reply},
      ],
    });
    const folder = await createTemporaryFolder({
      'talks.json': [
        talk('Tell me about the sea and its tides', 'The sea rises and falls twice a day'),
        talk('Hi', 'Hello'),
        {conversations: [{value: 'alone'}]},
      ],
    });
    const {samples, notes} = await loadDataset(
      context({datasetName: 'sharegpt', datasetPath: `${folder}/talks.json`}, {numSamples: 1}),
      0,
    );
    expect(samples[0].turns[0].outputTokens).toBe(await tokenizer.count('The sea rises and falls twice a day'));
    expect(notes[0]).toMatch(/^2 of 3 entries/);
  });

  it('custom: ids, own lengths and fields of the request; a bad line is named', async () => {
    const lines = [
      {id: 7, prompt: 'One', output_tokens: 5},
      {messages: [{role: 'user', content: 'Two'}], extra_body: {top_k: 3}},
    ];
    const folder = await createTemporaryFolder({
      'data.jsonl': lines.map((line) => JSON.stringify(line)).join('\n'),
      'bad.jsonl': '{"prompt": "x"}\n{"other": 1}',
    });
    const options = {datasetName: 'custom', customOutputLen: -1, disableShuffle: true} as const;
    const {samples} = await loadDataset(context({...options, datasetPath: `${folder}/data.jsonl`}, {numSamples: 2}), 0);
    expect(samples.map(({id, turns: [{outputTokens, fields}]}) => ({id, outputTokens, fields}))).toEqual([
      {id: '7', outputTokens: 5, fields: {}},
      {id: null, outputTokens: null, fields: {top_k: 3}},
    ]);
    const bad = loadDataset(context({...options, datasetPath: `${folder}/bad.jsonl`}), 0);
    await expect(bad).rejects.toThrow(/bad\.jsonl:2 .*prompt or messages is missing/);
  });

  it('are sent again when there are too few, unless that is not wanted', async () => {
    const folder = await createTemporaryFolder({'data.jsonl': '{"prompt":"a"}\n{"prompt":"b"}'});
    const options = {datasetName: 'custom', datasetPath: `${folder}/data.jsonl`} as const;
    expect((await loadDataset(context(options), 0)).samples).toHaveLength(6);
    expect((await loadDataset(context({...options, noOversample: true}), 0)).samples).toHaveLength(2);
  });

  it('timed_trace: recorded times, and equal text for equal blocks', async () => {
    const lines = [
      {timestamp: 1000, input_length: 40, output_length: 4, hash_ids: [1, 2]},
      {timestamp: 1500, input_length: 40, output_length: 4, hash_ids: [1, 3]},
    ];
    const folder = await createTemporaryFolder({'trace.jsonl': lines.map((line) => JSON.stringify(line)).join('\n')});
    const options = {
      datasetName: 'timed_trace',
      datasetPath: `${folder}/trace.jsonl`,
      timedTraceSecMultiplier: 0.001,
    } as const;
    const {samples} = await loadDataset(context(options), 0);
    expect(samples.map(({offsetSeconds}) => offsetSeconds)).toEqual([0, 0.5]);
    expect(await counts(samples)).toEqual([40, 40]);
    const [a, b] = samples.map(textOf);
    const common = [...a].findIndex((character, index) => character !== b[index]);
    expect(common).toBeGreaterThan(30);
    expect(common).toBeLessThan(a.length);
  });
});

it('conversationTurns cuts at answers and keeps results of tools', () => {
  const roles = (text: string) => text.split(' ').map((role) => ({role}));
  const cut = (text: string) => conversationTurns(roles(text)).map((turn) => turn.map(({role}) => role).join(' '));
  expect(cut('system user assistant user assistant')).toEqual(['system user', 'user']);
  expect(cut('user assistant tool tool assistant user')).toEqual(['user', 'tool tool', 'user']);
});
