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
const missingFeatures: {what: string; isNeeded: (line: GoldenCase) => boolean}[] = [];

let folder: string;
let engine: ServeProcess;

beforeAll(async () => {
  if (!hasSharedData) return;
  folder = await createServerFolder();
  engine = await startGoldenServer(folder, ['--enable-scale-out']);
});

afterAll(async () => {
  await engine?.stop();
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
      front = await startGoldenServer(folder, flags, engine.url);
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
