/**
 * Measures and shakes the output parsers on purpose: `npx tsx test/perf/parsers.ts [million]`. Prints microseconds per
 * token for answers of many tokens (aim: 5) and for random markup of every format, the growth from 256 KiB to 1 MiB of
 * arguments (aim: 4, linear), and runs random outputs in random cuts (0.05 million by default) that must not throw and
 * must not depend on the cut.
 */
import {isDeepStrictEqual} from 'node:util';
import {builtInFormats} from '../../src/core/parsers/built-in-formats.ts';
import type {OutputFormats} from '../../src/core/parsers/create-output-parser.ts';
import {ParserRegistry} from '../../src/core/parsers/registry.ts';
import {
  asFormats,
  foldParse,
  fuzzContext,
  markersOf,
  randomCut,
  randomOutput,
  seededRandom,
} from '../support/parser-fuzz.ts';

const CHARACTERS_PER_TOKEN = 4;
const registry = new ParserRegistry();

const long = (length: number) =>
  'a line of text, "quoted" <b> { and more\n'.repeat(Math.ceil(length / 40)).slice(0, length);
const jsonCall = (length: number) =>
  `<tool_call>\n{"name": "f", "arguments": {"city": ${JSON.stringify(long(length))}}}\n</tool_call>`;

const cases: Record<string, {formats: OutputFormats; output: (length: number) => string}> = {
  'hermes, long argument': {formats: {tool: registry.toolFormat('hermes')}, output: jsonCall},
  'hermes and qwen3, long thought': {
    formats: {tool: registry.toolFormat('hermes'), reasoning: registry.reasoningFormat('qwen3')},
    output: (length) => `<think>${long(length)}</think>Yes.`,
  },
  'openai, long answer': {
    formats: {tool: registry.toolFormat('openai'), reasoning: registry.reasoningFormat('openai_gptoss')},
    output: (length) => `<|channel|>final<|message|>${long(length)}`,
  },
};

function tokensOf(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${CHARACTERS_PER_TOKEN}}`, 'g')) ?? [];
}

/** Median microseconds per token over several runs. */
function microsecondsPerToken(formats: OutputFormats, output: string): number {
  const tokens = tokensOf(output);
  const times = Array.from({length: 5}, () => {
    const start = performance.now();
    foldParse(formats, tokens);
    return ((performance.now() - start) * 1000) / tokens.length;
  });
  return times.sort((a, b) => a - b)[2] ?? Number.NaN;
}

function measure(): void {
  for (const [name, {formats, output}] of Object.entries(cases)) {
    const small = microsecondsPerToken(formats, output(2 ** 18));
    const large = microsecondsPerToken(formats, output(2 ** 20));
    const growth = (4 * large) / small;
    process.stdout.write(
      `${name}: ${small.toFixed(2)} us per token, 4 times the text takes ${growth.toFixed(1)} times as long\n`,
    );
  }
}

/** Every format on its own markers between other text; names those that take longest. */
function measureAll(): void {
  const random = seededRandom(3);
  const rows = builtInFormats.map((format) => {
    const markers = markersOf(format, fuzzContext);
    let output = '';
    while (output.length < 2 ** 15) output += randomOutput(random, markers) + long(200);
    const call = format.kind === 'tool' ? long(2 ** 15) : '';
    return {name: `${format.kind} ${format.names[0]}`, time: microsecondsPerToken(asFormats(format), output + call)};
  });
  for (const {name, time} of rows.sort((a, b) => b.time - a.time).slice(0, 8)) {
    process.stdout.write(`${name}: ${time.toFixed(2)} us per token of random markup\n`);
  }
}

/** @returns the number of outputs whose parse depends on the cut */
function shake(count: number): number {
  const random = seededRandom(Number(process.argv[3] ?? 1));
  const all = builtInFormats.map((format) => ({
    format,
    parsers: asFormats(format),
    markers: markersOf(format, fuzzContext),
  }));
  let failures = 0;
  for (let index = 0; index < count; index++) {
    const {format, parsers, markers} = all[index % all.length] as (typeof all)[number];
    const output = randomOutput(random, markers);
    if (isDeepStrictEqual(foldParse(parsers, [output]), foldParse(parsers, randomCut(random, output)))) continue;
    failures++;
    process.stdout.write(`${format.kind} ${format.names[0]}: ${JSON.stringify(output)}\n`);
  }
  return failures;
}

measure();
measureAll();
const count = Math.round(Number(process.argv[2] ?? 0.05) * 1e6);
const failures = shake(count);
process.stdout.write(`${count} random outputs, ${failures} depend on the cut\n`);
process.exitCode = failures === 0 ? 0 : 1;
