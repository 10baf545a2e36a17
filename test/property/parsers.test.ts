/**
 * Laws of output parsers, for every format: the cut of the text does not matter; nothing throws; plain text is never
 * lost; arguments of a complete call are the JSON value that was written.
 */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {builtInFormats} from '../../src/core/parsers/built-in-formats.ts';
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

const formats = builtInFormats.map((format) => ({name: `${format.kind} ${format.names[0]}`, format}));
const OUTPUTS_PER_FORMAT = 60;

describe.each(formats)('$name', ({format}) => {
  const markers = markersOf(format, fuzzContext);
  const parsers = asFormats(format);

  it('gives the same for random cuts, single characters and the whole', () => {
    const random = seededRandom(7);
    for (let count = 0; count < OUTPUTS_PER_FORMAT; count++) {
      const output = randomOutput(random, markers);
      const whole = foldParse(parsers, [output]);
      expect(foldParse(parsers, randomCut(random, output)), output).toEqual(whole);
      expect(foldParse(parsers, [...output]), output).toEqual(whole);
    }
  });

  it('gives the same for every cut in two', () => {
    const random = seededRandom(11);
    for (let count = 0; count < 4; count++) {
      const output = randomOutput(random, markers);
      const whole = foldParse(parsers, [output]);
      for (let at = 1; at < output.length; at++) {
        expect(foldParse(parsers, [output.slice(0, at), output.slice(at)]), `${output} at ${at}`).toEqual(whole);
      }
    }
  });

  it('shows all of a text without markup', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z,. ]{1,80}$/), (text) => {
        const {content, reasoning, toolCalls} = foldParse(parsers, [text]);
        expect(toolCalls).toEqual([]);
        expect(reasoning + content).toContain(text.trim());
      }),
      {numRuns: 20},
    );
  });
});

type Write = (name: string, json: string) => string;

/** How each format writes one call with JSON arguments. */
const writers: Readonly<Record<string, Write>> = {
  hermes: (name, json) => `<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`,
  granite4: (name, json) => `<tool_call>\n{"arguments": ${json}, "name": "${name}"}\n</tool_call>`,
  llama3_json: (name, json) => `{"name": "${name}", "parameters": ${json}}`,
  granite: (name, json) => `<|tool_call|>[{"name": "${name}", "arguments": ${json}}]`,
  jamba: (name, json) => `<tool_calls>[\n  {"name": "${name}", "arguments": ${json}}\n]</tool_calls>`,
  xlam: (name, json) => `[{"name": "${name}", "arguments": ${json}}]`,
  apertus: (name, json) => `<|tools_prefix|>[{"${name}": ${json}}]<|tools_suffix|>`,
  phi4_mini_json: (name, json) => `functools[{"name": "${name}", "arguments": ${json}}]`,
  mistral: (name, json) => `[TOOL_CALLS]${name}[ARGS]${json}`,
  deepseek_v3: (name, json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  deepseek_v31: (name, json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  kimi_k2: (name, json) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_calls_section_end|>`,
  openai: (name, json) => `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json}<|call|>`,
  inkling: (name, json) => `<|content_invoke_tool_json|>{"name": "${name}", "args": ${json}}<|end_message|>`,
  cohere_command3: (name, json) =>
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "${name}", "parameters": ${json}}]<|END_ACTION|>`,
};

const registry = new ParserRegistry();
const argumentValues = fc.dictionary(fc.string(), fc.jsonValue({maxDepth: 3}));
const layouts = fc.constantFrom(undefined, 2);

describe.each(Object.entries(writers))('a call written as %s', (name, write) => {
  it('comes back with its name and its arguments, text for text, whatever the cut', () => {
    fc.assert(
      fc.property(argumentValues, layouts, fc.nat(), (value, indent, seed) => {
        const json = JSON.stringify(value, undefined, indent);
        const {toolCalls} = foldParse(
          {tool: registry.toolFormat(name)},
          randomCut(seededRandom(seed), write('get_weather', json)),
        );
        expect(toolCalls.map((call) => [call.name, call.argumentsText])).toEqual([['get_weather', json]]);
      }),
      {numRuns: 40},
    );
  });
});

describe('arguments', () => {
  it('are a growing prefix of the final ones', () => {
    const random = seededRandom(3);
    const tool = registry.toolFormat('hermes');
    const output = writers.hermes?.('f', '{"city": "a </tool_call> b", "n": [1, {"x": "\\u00e9"}]}') ?? '';
    const final = foldParse({tool}, [output]).toolCalls[0]?.argumentsText ?? '';
    for (let at = 1; at < output.length; at++) {
      const cut = foldParse({tool}, randomCut(random, output.slice(0, at))).toolCalls[0]?.argumentsText ?? '';
      if (cut !== '{}') expect(final.startsWith(cut), cut).toBe(true);
    }
  });
});
