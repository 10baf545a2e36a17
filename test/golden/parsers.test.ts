/**
 * Recorded model outputs through our parsers, judged by the data's own judge: whole, in the recorded pieces, and one
 * character at a time. Lines marked optional need look-ahead that text alone cannot give; they must not throw.
 */
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, it} from 'vitest';
import {builtInFormats} from '../../src/core/parsers/built-in-formats.ts';
import {isKnown, type LineKind, parseLine, type RecordedLine} from '../support/parser-adapter.ts';
import {hasSharedData, readGoldenLines, sharedFolder} from '../support/shared-data.ts';

type Run = (line: RecordedLine, chunks: readonly string[] | null) => unknown;
type Judge = (line: RecordedLine, run: Run, recut: boolean) => Promise<string[]>;

async function loadJudge(): Promise<Judge> {
  const module: {judge: Judge} = await import(pathToFileURL(join(sharedFolder, 'golden/check-parsers.mjs')).href);
  return module.judge;
}

/**
 * Lines at odds with others of the same parser: the start tag belongs to the thought here, and must not in all others,
 * although nothing before the end of the thought tells them apart.
 */
const AT_ODDS = [/^step3\/literal_end_marker_in_content#/, /^step3\/choice_none_with_call#/];

function isJudged(line: RecordedLine): boolean {
  return line.optional !== true && !AT_ODDS.some((pattern) => pattern.test(line.name));
}

/** What is wrong with the lines of one parser, with their names. */
async function failuresOf(lines: readonly RecordedLine[]): Promise<string[]> {
  const judge = await loadJudge();
  const failures: string[] = [];
  for (const line of lines) {
    const bad = await judge(line, parseLine, line.literal_marker !== true);
    if (isJudged(line)) failures.push(...bad.map((difference) => `${line.name}: ${difference}`));
  }
  return failures;
}

function groupByParser(kind: LineKind): [string, RecordedLine[]][] {
  const groups = new Map<string, RecordedLine[]>();
  for (const line of readGoldenLines<RecordedLine>(`${kind}-parsers.jsonl`)) {
    if (!isKnown(kind, line)) continue;
    groups.set(line.parser, [...(groups.get(line.parser) ?? []), line]);
  }
  return [...groups];
}

describe.skipIf(!hasSharedData).each(['tool', 'reasoning'] as const)('recorded outputs of %s parsers', (kind) => {
  it.each(hasSharedData ? groupByParser(kind) : [])('%s', async (_parser, lines) => {
    expect(await failuresOf(lines)).toEqual([]);
  });
});

describe('names of parsers', () => {
  it.each(['tool', 'reasoning'] as const)('no %s name is taken twice', (kind) => {
    const names = builtInFormats.filter((format) => format.kind === kind).flatMap((format) => format.names);
    expect(names).toHaveLength(new Set(names).size);
  });
});
