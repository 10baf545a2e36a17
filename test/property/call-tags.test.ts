/**
 * Formats that calls can be demanded in: whatever is picked from what the grammar leaves is read as calls of the given
 * functions, with arguments that fit their schemas. Judged by ajv.
 */
import {Ajv2020} from 'ajv/dist/2020.js';
import {describe, expect, it} from 'vitest';
import {callConstraint} from '../../src/core/call-constraint.ts';
import {builtInFormats} from '../../src/core/parsers/built-in-formats.ts';
import {hasCallTag} from '../../src/core/parsers/call-tags/calls-as-tag.ts';
import type {ToolFormat} from '../../src/core/parsers/format.ts';
import {toolSpecs} from '../../src/core/parsers/tool-specs.ts';
import {toOutputConstraint} from '../../src/core/structured-output/request-constraint.ts';
import {accepts, constrainedText} from '../support/constrained-text.ts';
import {foldParse, fuzzContext, seededRandom} from '../support/parser-fuzz.ts';

const parameters = {
  type: 'object',
  properties: {
    city: {type: 'string'},
    unit: {type: 'string', enum: ['celsius', 'kelvin']},
    days: {type: 'integer', minimum: 0, maximum: 99},
    exact: {type: 'boolean'},
    near: {$ref: '#/$defs/place'},
    route: {type: 'array', items: {$ref: '#/$defs/place'}, minItems: 1, maxItems: 2},
    level: {enum: ['low', 3, null]},
    mode: {anyOf: [{$ref: '#/$defs/mode'}, {type: 'null'}]},
    note: {anyOf: [{type: 'string'}, {type: 'null'}]},
  },
  required: ['unit', 'days'],
  additionalProperties: false,
  $defs: {
    mode: {enum: ['on', 'off']},
    place: {type: 'object', properties: {x: {type: 'integer'}}, required: ['x'], additionalProperties: false},
  },
};
const tools = [
  {type: 'function' as const, function: {name: 'get_weather', description: null, parameters, strict: true}},
  {
    type: 'function' as const,
    function: {name: 'now', description: null, parameters: {type: 'object', properties: {}}, strict: true},
  },
];
const validate = new Ajv2020({strict: false}).compile(parameters);
const NUM_TEXTS = 5;
/** Ends of texts, and of calls, in the markup of the formats. */
const CLOSERS = [
  ...[
    '</parameter>',
    '\n</parameter>',
    '</arg_value>',
    '</ifm|arg_value>',
    '</｜DSML｜parameter>',
    '</｜DSML｜ parameter>',
  ],
  ...['<|close|>argument<|sep|>', '<|"|>', ']<]minimax[>['],
  ...['\n]<|END_ACTION|>', '<|plamo:end_tool_requests:plamo|>'],
];

const formats = builtInFormats.filter(
  (format): format is ToolFormat => format.kind === 'tool' && format.forcedCalls === 'native' && hasCallTag(format),
);

type Rules = Partial<Parameters<typeof callConstraint>[0]> & {isStrict?: boolean};

function constraintOf(format: ToolFormat, {isStrict = true, ...request}: Rules) {
  const asked = tools.map((tool) => ({...tool, function: {...tool.function, strict: isStrict}}));
  const stated = callConstraint(
    {tools: asked, tool_choice: 'required', parallel_tool_calls: true, ...request} as never,
    {format, level: 'auto', mayThink: false, variables: {}},
  );
  const constraint = stated && toOutputConstraint(stated, {startsAfter: [], headerEnd: []});
  if (constraint === null) throw new Error(`${format.names[0]} holds calls to nothing`);
  return constraint;
}

const context = {
  ...fuzzContext,
  tools: toolSpecs(tools),
};
const read = (format: ToolFormat, text: string) =>
  foldParse({tool: format}, [text], {...context, toolChoice: 'required'});

describe.each(formats.map((format) => [format.names[0], format] as const))('demanded calls of %s', (_name, format) => {
  it('are read, and fit strict schemas', () => {
    const constraint = constraintOf(format, {});
    const random = seededRandom(7);
    let numRead = 0;
    for (let count = 0; count < NUM_TEXTS; count++) {
      const text = constrainedText(constraint, random, 600, CLOSERS);
      if (text === null) continue;
      numRead++;
      const {toolCalls, content} = read(format, text);
      expect({text, numCalls: toolCalls.length > 0, content: content.trim()}).toMatchObject({
        numCalls: true,
        content: '',
      });
      for (const call of toolCalls) {
        expect(['get_weather', 'now']).toContain(call.name);
        const value: unknown = JSON.parse(call.argumentsText);
        expect({text, fits: call.name === 'now' || validate(value), errors: validate.errors}).toMatchObject({
          fits: true,
        });
      }
    }
    expect(numRead).toBeGreaterThan(0);
  });

  it('may be one only, of the named function', () => {
    const named = {type: 'function' as const, function: {name: 'now'}};
    const constraint = constraintOf(format, {tool_choice: named});
    const random = seededRandom(3);
    const texts = Array.from({length: 2}, () => constrainedText(constraint, random, 600, CLOSERS)).filter(
      (text) => text !== null,
    );
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(read(format, text).toolCalls.map((call) => call.name)).toEqual(['now']);
  });

  it('may stand in free text, and only strict ones are held to anything', () => {
    const free = constraintOf(format, {tool_choice: 'auto', isStrict: true});
    expect(accepts(free, 'Just text.')).toBe(true);
    const call = constrainedText(constraintOf(format, {}), seededRandom(11), 600, CLOSERS);
    if (call !== null) expect({call, isAccepted: accepts(free, `Text. ${call}`)}).toMatchObject({isAccepted: true});
  });

  it('are held to nothing but the functions without strict schemas', () => {
    const constraint = constraintOf(format, {isStrict: false});
    const random = seededRandom(5);
    for (let count = 0; count < 2; count++) {
      const text = constrainedText(constraint, random, 600, CLOSERS);
      if (text === null) continue;
      const names = read(format, text).toolCalls.map((call) => call.name);
      expect({
        text,
        numCalls: names.length > 0,
        isKnown: names.every((each) => ['get_weather', 'now'].includes(each)),
      }).toMatchObject({numCalls: true, isKnown: true});
    }
  });
});
