/**
 * Random model outputs for any format: fragments of its own markers mixed with JSON, broken JSON, XML-like text and plain
 * text, and random cuts of them. Seeded, so that a failure can be repeated.
 */

import {createOutputParser, type OutputFormats} from '../../src/core/parsers/create-output-parser.ts';
import type {Format, MachineDefinition, ToolFormat} from '../../src/core/parsers/format.ts';
import {type ParserContext, parserContext} from '../../src/core/parsers/output-parser.ts';
import {type FoldedPieces, foldPiece} from '../../src/core/parsers/parsed-piece.ts';

export type Random = () => number;

/** Mulberry32: small, seeded, good enough to choose test data. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const fuzzContext: ParserContext = parserContext({
  tools: [
    {
      name: 'f',
      parameters: {
        type: 'object',
        properties: {
          city: {type: 'string'},
          n: {type: 'integer'},
          on: {type: 'boolean'},
          list: {type: 'array'},
          any: {},
        },
      },
    },
    {name: 'get_weather'},
  ],
  randomHex: (length) => '0'.repeat(length),
  responseTemplate: {
    start_anchor: '<bot>',
    fields: {
      thinking: {open: '<think>', close: '</think>'},
      tool_calls: {
        open_pattern: '<call:(?P<name>\\w+)>',
        close: '</call>',
        content: 'xml-inline',
        content_args: {tag_pattern: '<arg=(?P<key>\\w+)>(?P<value>.*?)</arg>'},
        transform: {type: 'function', function: {name: '{name}', arguments: '{content}'}},
      },
      content: {close: '<end>'},
    },
  },
});

const FRAGMENTS = [
  '{"name": "f", "arguments": {"city": "Oslo"}}',
  '{"name": "f", "parameters": {"a": {"b": [1, "}"]}}}',
  '{"f": {"city": "a\\"b"}}',
  '{"city": "x',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ',',
  ':',
  '\n',
  ' ',
  'f',
  'name',
  'functions.f:0',
  ' to=functions.f',
  'analysis',
  'Hi <b>',
  'é東🌧️',
  '<',
  '</',
  '<|',
  '<parameter=city>',
  'f><arg=city>x</arg>',
  '</parameter>',
  '<function=f>',
  '</function>',
  'f(city="x", n=1)',
  "f(city='",
  '```json\n',
  '```',
  '=',
  '>',
  '-1.5e3',
  'null',
];

/** All markers of a format's machine. */
export function markersOf(format: Format, context: ParserContext): string[] {
  const machine: MachineDefinition = format.machine(context, {reasoning: true, tools: true});
  return Object.values(machine.modes).flatMap((mode) => (mode.kind === 'reader' ? [] : Object.keys(mode.on ?? {})));
}

export function randomOutput(random: Random, markers: readonly string[]): string {
  const length = 1 + Math.floor(random() * 12);
  return Array.from({length}, () => {
    const from = random() < 0.5 && markers.length > 0 ? markers : FRAGMENTS;
    const fragment = from[Math.floor(random() * from.length)] ?? '';
    return random() < 0.1 ? fragment.slice(0, Math.ceil(fragment.length / 2)) : fragment;
  }).join('');
}

export function randomCut(random: Random, text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + Math.floor(random() * 7);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** Folds the parse of pieces; throws when a parser throws or takes back arguments. */
export function foldParse(formats: OutputFormats, pieces: readonly string[], context = fuzzContext): FoldedPieces {
  const folded: FoldedPieces = {content: '', reasoning: '', toolCalls: []};
  const onFault = (error: unknown) => {
    throw error;
  };
  const parser = createOutputParser({...formats, onFault}, context);
  for (const piece of pieces) for (const parsed of parser.push(piece)) foldPiece(folded, parsed);
  for (const parsed of parser.finish()) foldPiece(folded, parsed);
  return folded;
}

export function asFormats(format: Format): OutputFormats {
  return format.kind === 'tool' ? {tool: format satisfies ToolFormat} : {reasoning: format};
}
