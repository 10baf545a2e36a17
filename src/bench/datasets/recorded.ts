/** Data sets that are read from a file: sharegpt, custom, multi_turn. */
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {
  type Dataset,
  type DatasetContext,
  type Message,
  type Sample,
  type SampleTurn,
  singleTurn,
  userTurn,
} from './dataset.ts';
import {mapInOrder} from './map-in-order.ts';
import {parseEntry, readDataFile, readJsonLines} from './read-lines.ts';
import {conversationTurns} from './turns.ts';

const sharegptSchema = z.array(
  z.looseObject({
    id: z.union([z.string(), z.number()]).optional(),
    conversations: z.array(z.looseObject({value: z.string()})).optional(),
    conversation: z.array(z.looseObject({value: z.string()})).optional(),
  }),
);

/** Lengths of entries that are kept, as in the reference (vllm/benchmarks/datasets.py). */
const bounds = {least: 4, mostPrompt: 1024, mostTotal: 2048};

export async function sharegptDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, tokenizer} = context;
  const path = settings.datasetPath as string;
  const entries = parseEntry(await readDataFile(path), path, sharegptSchema);
  const talks = entries
    .map(({id, conversations, conversation}) => ({id, talk: conversations ?? conversation ?? []}))
    .filter(({talk}) => talk.length >= 2);
  const counted = await mapInOrder(ordered(talks, context), async ({id, talk}) => ({
    id: id === undefined ? null : String(id),
    prompt: talk[0].value,
    promptTokens: await tokenizer.count(talk[0].value),
    outputTokens: settings.outputLen ?? settings.sharegptOutputLen ?? (await tokenizer.count(talk[1].value)),
  }));
  // A length that was asked for is no sign of an empty answer, however short.
  const leastOutput = (settings.outputLen ?? settings.sharegptOutputLen) === null ? bounds.least : 1;
  const kept = counted.filter(
    ({promptTokens, outputTokens}) => outputTokens >= leastOutput && isInBounds(promptTokens, outputTokens),
  );
  if (kept.length === 0) throw new UsageError(`${path} has no conversation of usable length`);
  const samples = kept.map(({id, prompt, promptTokens, outputTokens}) =>
    singleTurn(userTurn(prompt, {promptTokens, outputTokens}), id),
  );
  const dropped = entries.length - kept.length;
  const notes =
    dropped === 0
      ? []
      : [`${dropped} of ${entries.length} entries are too short, too long or have one turn, and are left out`];
  return {samples, ignoresEos: false, notes};
}

function isInBounds(promptTokens: number, outputTokens: number): boolean {
  const hasPrompt = promptTokens >= bounds.least && promptTokens <= bounds.mostPrompt;
  return hasPrompt && promptTokens + outputTokens <= bounds.mostTotal;
}

const messagesSchema = z.array(z.looseObject({role: z.string()})).min(1);
const idSchema = z.union([z.string(), z.number()]).optional();
const customSchema = z
  .looseObject({
    id: idSchema,
    prompt: z.string().optional(),
    messages: messagesSchema.optional(),
    output_tokens: z.int().positive().optional(),
    tools: z.array(z.unknown()).optional(),
    extra_body: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({prompt, messages}) => prompt !== undefined || messages !== undefined, {
    error: 'prompt or messages is missing',
  });

export async function customDataset(context: DatasetContext): Promise<Dataset> {
  const {settings, tokenizer} = context;
  const entries = await readJsonLines(settings.datasetPath as string, customSchema);
  const samples = await mapInOrder(ordered(entries, context), async (entry) => {
    const messages: Message[] = entry.messages ?? [{role: 'user', content: entry.prompt}];
    const turn: SampleTurn = {
      messages,
      tokenIds: null,
      promptTokens: entry.prompt === undefined ? null : await tokenizer.count(entry.prompt),
      outputTokens: outputTokensOf(entry.output_tokens, settings),
      fields: {...(entry.tools !== undefined && {tools: entry.tools}), ...entry.extra_body},
    };
    return singleTurn(turn, idText(entry.id));
  });
  return {samples, ignoresEos: false, notes: []};
}

function outputTokensOf(
  ofLine: number | undefined,
  {outputLen, customOutputLen}: DatasetContext['settings'],
): number | null {
  if (outputLen !== null) return outputLen;
  return customOutputLen === -1 ? (ofLine ?? null) : customOutputLen;
}

const multiTurnSchema = z.looseObject({
  id: idSchema,
  messages: messagesSchema,
  tools: z.array(z.unknown()).optional(),
});

export async function multiTurnDataset(context: DatasetContext): Promise<Dataset> {
  const {settings} = context;
  const entries = await readJsonLines(settings.datasetPath as string, multiTurnSchema);
  const samples = ordered(entries, context).map(({id, messages, tools}): Sample => {
    const fields = tools === undefined ? {} : {tools};
    const turns = conversationTurns(messages).map(
      (turnMessages): SampleTurn => ({
        messages: turnMessages,
        tokenIds: null,
        promptTokens: null,
        outputTokens: outputTokensOf(undefined, settings),
        fields,
      }),
    );
    return {id: idText(id), turns, offsetSeconds: null};
  });
  const usable = samples.filter(({turns}) => turns.length > 0);
  if (usable.length === 0) throw new UsageError(`${settings.datasetPath} has no conversation with a user's message`);
  return {samples: usable, ignoresEos: false, notes: []};
}

function idText(id: string | number | undefined): string | null {
  return id === undefined ? null : String(id);
}

function ordered<T>(entries: readonly T[], {settings, random}: DatasetContext): T[] {
  return settings.disableShuffle ? [...entries] : random.shuffle([...entries]);
}
