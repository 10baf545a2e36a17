/** Data sets that are made and not read: random, prefix_repetition, sonnet. */
import {RandomSource} from '../load/random-source.ts';
import {type Dataset, type DatasetContext, type Sample, type SampleTurn, userTurn} from './dataset.ts';
import {mapInOrder} from './map-in-order.ts';
import {type TextOrder, type WrittenText, writeText} from './prompt-writer.ts';

export async function randomDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, lengths, random} = context;
  const prefix = await write(context, {numTokens: settings.randomPrefixLen});
  const plans = Array.from({length: context.numSamples}, () =>
    Array.from({length: settings.multiTurn}, (_, turn) => ({
      // The beginning that all share stands in the first turn only.
      prefix: turn === 0 ? prefix.text : '',
      numTokens: around(lengths.input, settings.randomRange.input, random) + (turn === 0 ? prefix.numTokens : 0),
      outputTokens: around(lengths.output, settings.randomRange.output, random),
      seed: random.integer(0, 2 ** 32 - 1),
    })),
  );
  const samples = await mapInOrder(plans, async (turns) => ({
    id: null,
    offsetSeconds: null,
    turns: await mapInOrder(turns, (turn) => writeTurn(context, turn, turn.outputTokens, turn.seed)),
  }));
  return {samples, ignoresEos: true, notes: lengthNotes(context, samples)};
}

export async function prefixRepetitionDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, random, numSamples} = context;
  const {prefixRepetitionNumPrefixes: numPrefixes, prefixRepetitionPrefixLen: prefixLen} = settings;
  const suffixLen =
    settings.inputLen === null ? settings.prefixRepetitionSuffixLen : Math.max(1, settings.inputLen - prefixLen);
  const outputTokens = settings.outputLen ?? settings.prefixRepetitionOutputLen;
  const prefixes = await mapInOrder(Array.from({length: numPrefixes}), () => write(context, {numTokens: prefixLen}));
  const plans = Array.from({length: numSamples}, (_, index) => ({
    prefix: prefixes[index % numPrefixes].text,
    numTokens: prefixLen + suffixLen,
    seed: random.integer(0, 2 ** 32 - 1),
  }));
  const turns = await mapInOrder(plans, (plan) => writeTurn(context, plan, outputTokens, plan.seed));
  const samples = turns.map((turn) => ({id: null, offsetSeconds: null, turns: [turn]}));
  return {
    samples: settings.disableShuffle ? samples : random.shuffle(samples),
    ignoresEos: true,
    notes: lengthNotes(context, samples),
  };
}

const sonnetTask = 'Pick as many lines as you can from these lines of a poem:\n';

export async function sonnetDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, random, numSamples} = context;
  const inputLen = settings.inputLen ?? settings.sonnetInputLen;
  const prefix = await write(context, {
    numTokens: Math.min(settings.sonnetPrefixLen, inputLen),
    prefix: sonnetTask,
    pieces: 'lines',
  });
  const plans = Array.from({length: numSamples}, () => random.integer(0, 2 ** 32 - 1));
  const samples = await mapInOrder(plans, async (seed): Promise<Sample> => {
    const order: TextOrder = {numTokens: inputLen, prefix: prefix.text, pieces: 'lines'};
    const turn = await writeTurn(context, order, settings.outputLen ?? settings.sonnetOutputLen, seed);
    return {id: null, offsetSeconds: null, turns: [turn]};
  });
  return {samples, ignoresEos: false, notes: lengthNotes(context, samples)};
}

async function writeTurn(
  context: DatasetContext,
  order: TextOrder,
  outputTokens: number,
  seed: number,
): Promise<SampleTurn> {
  const {text, numTokens} = await writeText(context.tokenizer, order, new RandomSource(seed));
  const {settings, tokenizer} = context;
  const tokenIds = settings.randomPromptAsTokenIds ? ((await tokenizer.encoding?.encode(text)) ?? null) : null;
  return userTurn(text, {promptTokens: numTokens, outputTokens, tokenIds});
}

async function write({tokenizer, random}: DatasetContext, order: TextOrder): Promise<WrittenText> {
  if (order.numTokens === 0) return {text: '', numTokens: 0};
  return writeText(tokenizer, order, new RandomSource(random.integer(0, 2 ** 32 - 1)));
}

/** Uniform over the integers of `[length * (1 - share), length * (1 + share)]`, and at least one token. */
function around(length: number, share: number, random: RandomSource): number {
  return Math.max(1, random.integer(Math.floor(length * (1 - share)), Math.ceil(length * (1 + share))));
}

function lengthNotes({tokenizer}: DatasetContext, samples: readonly Sample[]): string[] {
  if (tokenizer.encoding !== null || samples.length === 0) return [];
  return ['There is no tokenizer, so lengths of prompts are estimates (4 characters a token); --tokenizer names one'];
}
