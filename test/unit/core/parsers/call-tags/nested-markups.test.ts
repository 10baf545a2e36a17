/** What the markup of formats that nest in a way of their own holds arguments to. */
import {describe, expect, it} from 'vitest';
import {callConstraint} from '../../../../../src/core/call-constraint.ts';
import {builtInFormats} from '../../../../../src/core/parsers/built-in-formats.ts';
import type {ToolFormat} from '../../../../../src/core/parsers/format.ts';
import {toOutputConstraint} from '../../../../../src/core/structured-output/request-constraint.ts';
import {accepts} from '../../../../support/constrained-text.ts';

function demanded(name: string, parameters: object) {
  const format = builtInFormats.find((each): each is ToolFormat => each.names.includes(name))!;
  const tools = [{type: 'function', function: {name: 'f', description: null, parameters, strict: true}}];
  const request = {tools, tool_choice: 'required', parallel_tool_calls: true} as never;
  const stated = callConstraint(request, {format, level: 'auto', mayThink: false, variables: {}})!;
  return toOutputConstraint(stated, {startsAfter: [], headerEnd: []})!;
}

const object = (properties: object, required: string[] = []) => ({type: 'object', properties, required});
const number = {type: 'integer'};
const gemma = (inside: string) => `<|tool_call>call:f{${inside}}<tool_call|>`;
const P = ']<]minimax[>[';
const minimax = (inside: string) =>
  `${P}<tool_call>\n${P}<invoke name="f">${inside.replaceAll('#', P)}${P}</invoke>\n${P}</tool_call>`;

const optional = object({a: number, b: number, c: number});
const partly = object({a: number, b: number, c: number}, ['b']);
const lists = object({l: {type: 'array', items: number, minItems: 1, maxItems: 2}}, ['l']);
const maps = object({m: {type: 'object', additionalProperties: number}});
const free = object({o: {type: 'object'}, l: {type: 'array'}, x: {}});

describe('calls of Gemma 4', () => {
  it.each([
    [optional, ['', 'a:1', 'b:1', 'a:1,c:2', 'a:1,b:2,c:3'], ['c:1,a:1', ',a:1', 'a:1,', 'd:1', 'a:x']],
    [partly, ['b:1', 'a:1,b:2', 'b:1,c:2', 'a:1,b:2,c:3'], ['', 'a:1', 'a:1,c:2', 'a:1,,b:2']],
    [lists, ['l:[1]', 'l:[1,2]'], ['l:[]', 'l:[1,2,3]', 'l:[<|"|>1<|"|>]']],
    [maps, ['m:{}', 'm:{x:1,y-z:2}'], ['m:{x:true}', 'm:[]']],
    [free, ['o:{a:[1,{}],b:<|"|>t < u<|"|>}', 'l:[true,null,-1.5e3]', 'x:<|"|><|"|>'], ['o:[]', 'l:{}', 'x:t']],
  ])('follow the schema', (schema, good, bad) => {
    const constraint = demanded('gemma4', schema);
    for (const inside of good) expect([inside, accepts(constraint, gemma(inside))]).toEqual([inside, true]);
    for (const inside of bad) expect([inside, accepts(constraint, gemma(inside))]).toEqual([inside, false]);
  });
});

describe('calls of MiniMax M3', () => {
  it.each([
    [optional, ['', '#<a>1#</a>', '#<a>1#</a>#<c>2#</c>'], ['#<c>1#</c>#<a>1#</a>', '#<d>1#</d>', '#<a>x#</a>']],
    [partly, ['#<b>1#</b>', '#<a>1#</a>#<b>2#</b>'], ['', '#<a>1#</a>']],
    [lists, ['#<l>#<item>1#</item>#</l>'], ['#<l>#</l>', '#<l>[1]#</l>']],
    [free, ['#<o>{"a": 1}#</o>', '#<l>[]#</l>', '#<x>any < text#</x>'], ['#<o>[]#</o>', '#<x>a#<y>b#</y>#</x>']],
  ])('follow the schema', (schema, good, bad) => {
    const constraint = demanded('minimax_m3', schema);
    for (const inside of good) expect([inside, accepts(constraint, minimax(inside))]).toEqual([inside, true]);
    for (const inside of bad) expect([inside, accepts(constraint, minimax(inside))]).toEqual([inside, false]);
  });
});

describe.each(['gemma4', 'minimax_m3'])('schemas that %s cannot hold to', (name) => {
  it('have names that its markup cannot spell', () => {
    expect(() => demanded(name, object({'a b': number}))).toThrow(
      "parameter name 'a b' cannot be encoded in tool calls",
    );
  });

  it('become too large', () => {
    const $defs = Object.fromEntries(
      Array.from({length: 9}, (_, index) => {
        const next = {$ref: `#/$defs/d${index + 1}`};
        return [`d${index}`, object(Object.fromEntries(Array.from('abcdefgh', (key) => [key, next])))];
      }),
    );
    expect(() => demanded(name, {...object({a: {$ref: '#/$defs/d0'}}), $defs})).toThrow(
      "The parameters of tool 'f' are too many",
    );
  });
});
