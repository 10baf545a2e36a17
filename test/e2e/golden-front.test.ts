/**
 * Recorded requests of the reference, sent to our server as a front before another one that runs the model. A sample of
 * every kind of case; all of them, from all groups, with PARLANCE_GOLDEN_FRONT=all.
 */
import {rm} from 'node:fs/promises';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type GoldenCase, type GoldenGroup, loadCompare, readGoldenGroups, send} from '../support/golden-http.ts';
import {createServerFolder, startGoldenServer} from '../support/golden-server.ts';
import type {ServeProcess} from '../support/serve-process.ts';
import {hasSharedData} from '../support/shared-data.ts';

const takesAll = process.env.PARLANCE_GOLDEN_FRONT === 'all';

/** Of each kind one in so many cases that are quick. */
const oneIn = 12;
const longPromptTokens = 500;
const sampledGroups = ['default', 'tools'];

/** Lines that cannot be right behind a front. */
const missingFeatures: {what: string; isNeeded: (line: GoldenCase) => boolean}[] = [
  {what: 'without a name of its own a front has that of the server', isNeeded: ({group}) => group === 'names'},
  {
    what: 'when the server began with a request is not known here',
    isNeeded: ({group, response}) =>
      group === 'observe' && JSON.stringify(response).includes('"time_to_first_token_ms"'),
  },
  {
    // As in golden-http.test.ts.
    what: 'the random numbers of the reference',
    isNeeded: ({name}) => name === 'reasoning-tools/chat-stream/n2',
  },
];

let folder: string;
/** By their flags. */
const engines = new Map<string, ServeProcess>();

/** What the engine behind the front has to know itself: the model, and where a thought ends. */
function engineFlags(flags: readonly string[]): string[] {
  const parser = flags.indexOf('--reasoning-parser');
  const ofParser = parser === -1 ? [] : flags.slice(parser, parser + 2);
  return ['--enable-scale-out', ...flags.filter((flag) => flag.startsWith('MODEL:')), ...ofParser];
}

async function engineFor(flags: readonly string[]): Promise<ServeProcess> {
  const needed = engineFlags(flags);
  const engine = engines.get(needed.join(' ')) ?? (await startGoldenServer(folder, needed));
  engines.set(needed.join(' '), engine);
  return engine;
}

beforeAll(async () => {
  if (hasSharedData) folder = await createServerFolder();
});

afterAll(async () => {
  for (const engine of engines.values()) await engine.stop();
  if (folder) await rm(folder, {recursive: true, force: true});
});

/** The beginning of a name says what it is about. */
const kindOf = ({name}: GoldenCase) => name.split('/')[0]!;

/** A long prompt or many beams take longer than all the rest. */
function isQuick({request, response}: GoldenCase): boolean {
  const promptTokens = /prompt_tokens\\*":(\d+)/.exec(JSON.stringify(response))?.[1] ?? '0';
  return Number(promptTokens) < longPromptTokens && !JSON.stringify(request).includes('beam');
}

function sampleOf({cases, ...group}: GoldenGroup): GoldenGroup {
  const numSeen = new Map<string, number>();
  const isTaken = (line: GoldenCase) => {
    if (!takesAll && !isQuick(line)) return false;
    const number = numSeen.get(kindOf(line)) ?? 0;
    numSeen.set(kindOf(line), number + 1);
    return takesAll || number % oneIn === 0;
  };
  return {...group, cases: cases.filter(isTaken)};
}

const groups = hasSharedData ? readGoldenGroups() : [];
const taken = groups.filter(({name}) => takesAll || sampledGroups.includes(name)).map(sampleOf);
const compare = hasSharedData ? await loadCompare() : () => null;

describe.skipIf(!hasSharedData)('chat-completions.jsonl through a front', () => {
  describe.each(taken)('group $name', ({name, flags, cases}) => {
    let front: ServeProcess;

    beforeAll(async () => {
      front = await startGoldenServer(folder, flags, (await engineFor(flags)).url);
    });

    afterAll(async () => {
      await front?.stop();
    });

    const test = name === 'observe' ? it : it.concurrent;
    test.each(cases.map((line) => [line.name, line] as const))('%s', async (_, line) => {
      const difference = compare(line, await send(front.url, line));
      const missing = missingFeatures.find(({isNeeded}) => isNeeded(line));
      if (missing) expect(difference, `passes now: ${missing.what}`).not.toBeNull();
      else expect(difference).toBeNull();
    });
  });
});
