import {describe, expect, it} from 'vitest';
import {builtInFormats} from '../../../../src/core/parsers/built-in-formats.ts';
import type {ToolFormat} from '../../../../src/core/parsers/format.ts';
import {parserContext} from '../../../../src/core/parsers/output-parser.ts';
import {inlineReferences} from '../../../../src/core/parsers/schema-references.ts';
import {toolSpecs} from '../../../../src/core/parsers/tool-specs.ts';
import {foldParse} from '../../../support/parser-fuzz.ts';

const place = {type: 'object', properties: {x: {type: 'integer'}, zip: {type: 'string'}}};
const parameters = {
  type: 'object',
  properties: {
    near: {$ref: '#/$defs/place'},
    maybe: {anyOf: [{$ref: '#/$defs/place'}, {type: 'null'}]},
    level: {$ref: '#/definitions/a~1b'},
  },
  $defs: {place},
  definitions: {'a/b': {$ref: '#/definitions/level'}, level: {type: 'integer'}},
};

function read(name: string, text: string) {
  const tool = builtInFormats.find((format): format is ToolFormat => format.names.includes(name))!;
  const context = parserContext({tools: toolSpecs([{function: {name: 'f', parameters}}])});
  return JSON.parse(foldParse({tool}, [text], context).toolCalls[0]!.argumentsText) as unknown;
}

describe('references in schemas', () => {
  it('are followed, in chains too', () => {
    expect(inlineReferences(parameters)).toMatchObject({
      properties: {near: place, maybe: {anyOf: [place, {type: 'null'}]}, level: {type: 'integer'}},
    });
  });

  it('that lead nowhere or away say nothing', () => {
    const schema = {properties: {a: {$ref: '#/$defs/gone'}, b: {$ref: '#/properties/b'}, c: {$ref: 'https://x.y/z'}}};
    expect(inlineReferences(schema)).toEqual({properties: {a: {}, b: {}, c: {$ref: 'https://x.y/z'}}});
  });

  it('may lead back to where they stand', () => {
    const schema = {type: 'object', properties: {next: {$ref: '#'}}};
    const inlined = inlineReferences(schema) as {properties: {next: unknown}};
    expect(inlined.properties.next).toBe(inlined);
  });

  it('do not take long when each names several others', () => {
    const names = Array.from({length: 60}, (_, index) => index);
    const $defs = Object.fromEntries(
      names.map((index) => [`d${index}`, {anyOf: [1, 1].map((step) => ({$ref: `#/$defs/d${index + step}`}))}]),
    );
    expect(inlineReferences({$ref: '#/$defs/d0', $defs})).toHaveProperty('anyOf');
  });

  it.each([
    [
      'qwen3_coder',
      '<tool_call>\n<function=f>\n<parameter=near>\n{"x": 1, "zip": "01"}\n</parameter>\n<parameter=level>\n3\n</parameter>\n</function>\n</tool_call>',
    ],
    ['gemma4', '<|tool_call>call:f{near:{x:1,zip:<|"|>01<|"|>},level:3}<tool_call|>'],
  ])('give values their types in calls of %s', (name, text) => {
    expect(read(name, text)).toEqual({near: {x: 1, zip: '01'}, level: 3});
  });

  it('give elements their types, within alternatives too', () => {
    const p = ']<]minimax[>[';
    const call = `${p}<maybe>${p}<zip>01${p}</zip>${p}<x>2${p}</x>${p}</maybe>`;
    expect(read('minimax_m3', `${p}<tool_call>\n${p}<invoke name="f">${call}${p}</invoke>\n${p}</tool_call>`)).toEqual({
      maybe: {zip: '01', x: 2},
    });
  });
});
