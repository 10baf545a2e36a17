/**
 * Readers of arguments that are not JSON: what they write, the same in every cut; broken text never throws and what was
 * given is never taken back; long values go out in linear time.
 */
import {describe, expect, it} from 'vitest';
import type {CreateReader} from '../../../../../src/core/parsers/argument-reader.ts';
import {keyValues} from '../../../../../src/core/parsers/argument-readers/key-values.ts';
import {lineValues} from '../../../../../src/core/parsers/argument-readers/line-values.ts';
import {parameterTags} from '../../../../../src/core/parsers/argument-readers/parameter-tags.ts';
import {pythonCall} from '../../../../../src/core/parsers/argument-readers/python-call.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';

const properties = {s: {type: 'string'}, n: {type: 'integer'}, b: {type: 'boolean'}, o: {type: 'object'}};
const request = parserContext({tools: [{name: 'f', parameters: {type: 'object', properties}}]});

const readers: Readonly<Record<string, CreateReader>> = {
  tags: parameterTags({
    keyOpen: '<p=',
    keyClose: '>',
    valueClose: '</p>',
    callClose: '</f>',
    ends: ['<f='],
    trims: 'line-feeds',
  }),
  pairs: parameterTags({
    keyOpen: '<k>',
    keyClose: '</k>',
    valueOpen: '<v>',
    valueClose: '</v>',
    callClose: '</c>',
    ends: [],
  }),
  typed: parameterTags({
    keyOpen: '<k>',
    keyClose: '</k>',
    valueOpen: '<v>',
    valueClose: '</v>',
    typeTags: {open: '<t>', close: '</t>'},
    undeclared: 'json',
    ends: ['</c>'],
  }),
  python: pythonCall(),
  keys: keyValues({quote: '<|"|>'}),
  lines: lineValues({lineEnd: '\n', separator: ':', ends: ['</c>'], isJson: true}),
};

function read(reader: string, pieces: readonly string[]) {
  const made = readers[reader]?.({request, name: reader === 'python' ? undefined : 'f'});
  if (made === undefined) throw new Error(`no reader ${reader}`);
  let json = '';
  for (const [index, piece] of pieces.entries()) {
    const step = made.push(piece);
    json += step.json;
    if (step.state !== 'more') return {json, state: step.state, rest: step.rest + pieces.slice(index + 1).join('')};
  }
  const step = made.finish('stop');
  return {json: json + step.json, state: step.state, rest: step.rest};
}

function readInAllCuts(reader: string, text: string) {
  const whole = read(reader, [text]);
  expect(read(reader, [...text]), text).toEqual(whole);
  for (let at = 1; at < text.length; at++) {
    expect(read(reader, [text.slice(0, at), text.slice(at)]), `${text} at ${at}`).toEqual(whole);
  }
  return whole;
}

const complete: readonly [reader: string, text: string, json: string, rest: string][] = [
  ['tags', '\n<p=s>\na\n</p>\n<p=n>\n12\n</p>\n</f> x', '{"s": "a", "n": 12}', ' x'],
  ['tags', '<p=s>01</p><p=n>12345678901234567890</p></f>', '{"s": "01", "n": 12345678901234567890}', ''],
  ['tags', '<p=s>a </p> b</p></f>', '{"s": "a </p> b"}', ''],
  ['tags', '<p=s>a<p=b>TRUE</p></f>', '{"s": "a", "b": true}', ''],
  ['tags', '<p=o>{"a": [1, {}]}</p><f=g>', '{"o": {"a": [1, {}]}}', '<f=g>'],
  ['tags', '</f>', '{}', ''],
  ['pairs', '<k>s</k>\n<v> é東🌧️ "q" \\ </v></c>', '{"s": " é東🌧️ \\"q\\" \\\\ "}', ''],
  ['pairs', '<k>n</k>7</v></c>', '{"n": 7}', ''],
  ['pairs', '<k>x</k><v>true</v></c>', '{"x": "true"}', ''],
  ['typed', '<k>x</k><v>true</v><k>y</k><v>[1]</v></c>', '{"x": true, "y": [1]}', '</c>'],
  ['typed', '<k>x</k><t>string</t><v>1</v><k>y</k>2</v></c>', '{"x": "1", "y": 2}', '</c>'],
  ['python', 'f(x=-1, size=(1, 2), from_=3.5e2) tail', '{"x": -1, "size": [1, 2], "from_": 350}', ' tail'],
  [
    'python',
    `f(s="a\\n\\"b'", r='''x'y''', d={"k": {1}, 'l': [None, True]})`,
    `{"s": "a\\n\\"b'", "r": "x'y", "d": {"k": [1], "l": [null, true]}}`,
    '',
  ],
  ['python', 'a.b_c(1, "p", n=0x1F)', '{"n": 31}', ''],
  ['python', 'f()', '{}', ''],
  [
    'keys',
    's:<|"|>a,b}<|"|>,n:42,b:true,o:{x:[1,<|"|>y<|"|>]}}!',
    '{"s": "a,b}", "n": 42, "b": true, "o": {"x": [1, "y"]}}',
    '!',
  ],
  ['keys', '}', '{}', ''],
  ['lines', 's: a:b\nn: 4\n\nnothing\nx: [1]\n</c>.', '{"s": "a:b", "n": 4, "x": [1]}', '</c>.'],
];

const broken: readonly [reader: string, text: string][] = [
  ['tags', '<p=s>never closed'],
  ['tags', '<p=s'],
  ['tags', '</p></p><p=></p></f>'],
  ['tags', '<p=n>seven</p><p=n>7</p></f>'],
  ['pairs', '<k>s</k><k>n</k><v>1</v></c>'],
  ['pairs', '<v>1</v></c>'],
  ['python', 'f(x=[1, 2'],
  ['python', 'f(x={1: 2, 3})'],
  ['python', 'f(x=y.z)'],
  ['python', 'f(x="\\u12'],
  ['python', 'f(x=1))'],
  ['python', '(x=1)'],
  ['keys', 's:<|"|>open'],
  ['keys', 's:{a:[1}'],
  ['keys', ',,:,}'],
  ['lines', ':::\n'],
];

describe('readers of text', () => {
  it.each(complete)('%s reads %j', (reader, text, json, rest) => {
    expect(readInAllCuts(reader, text)).toEqual({json, state: 'done', rest});
    expect(() => JSON.parse(json)).not.toThrow();
  });

  it.each(broken)('%s ends %j in the same way in every cut', (reader, text) => {
    const {json, state} = readInAllCuts(reader, text);
    expect(['done', 'failed', 'void']).toContain(state);
    for (let length = 0; length < text.length; length++) {
      const grown = readers[reader]?.({request, name: 'f'}).push(text.slice(0, length)).json ?? '';
      expect(json.startsWith(grown)).toBe(true);
    }
  });

  const openings = {tags: '<p=s>', pairs: '<k>s</k><v>', python: 'f(s="', keys: 's:<|"|>'};
  it.each(Object.entries(openings))('%s sends a long value while it grows', (reader, opening) => {
    const made = readers[reader]?.({request, name: reader === 'python' ? undefined : 'f'});
    made?.push(opening);
    let longestGap = 0;
    let numHeld = 0;
    for (let count = 0; count < 50_000; count++) {
      numHeld += 4 - (made?.push('ab <').json.length ?? 0);
      longestGap = Math.max(longestGap, numHeld);
    }
    expect(longestGap).toBeLessThan(32);
  });
});
