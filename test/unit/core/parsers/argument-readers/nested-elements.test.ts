/** Elements named after their keys: what they become, the same in every cut, whatever the text. */
import {describe, expect, it} from 'vitest';
import {nestedElements} from '../../../../../src/core/parsers/argument-readers/nested-elements.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';

const properties = {
  s: {type: 'string'},
  n: {type: 'integer'},
  list: {type: 'array', items: {type: 'integer'}},
  o: {type: 'object', properties: {b: {type: 'boolean'}, s: {type: 'string'}}},
  free: {type: 'object'},
};
const request = parserContext({tools: [{name: 'f', parameters: {type: 'object', properties}}]});
const create = nestedElements({prefix: '#', call: 'invoke', item: 'item'});

function read(pieces: readonly string[]) {
  const reader = create({request, name: 'f'});
  let json = '';
  for (const [index, piece] of pieces.entries()) {
    const step = reader.push(piece);
    json += step.json;
    if (step.state !== 'more') return {json, state: step.state, rest: step.rest + pieces.slice(index + 1).join('')};
  }
  const step = reader.finish('stop');
  return {json: json + step.json, state: step.state, rest: step.rest};
}

function readInAllCuts(text: string) {
  const whole = read([text]);
  expect(read([...text]), text).toEqual(whole);
  for (let at = 1; at < text.length; at++) {
    expect(read([text.slice(0, at), text.slice(at)]), `${text} at ${at}`).toEqual(whole);
  }
  return whole;
}

const element = (key: string, value: string) => `#<${key}>${value}#</${key}>`;

describe('nested elements', () => {
  it.each([
    ['nothing', '', '{}'],
    ['texts', element('s', ' a\n"b" '), '{"s": " a\\n\\"b\\" "}'],
    ['values by their schema', element('n', '42') + element('s', '42'), '{"n": 42, "s": "42"}'],
    ['lists', element('list', element('item', '1') + element('item', '2')), '{"list": [1, 2]}'],
    ['objects', element('o', element('b', 'true') + element('s', 'true')), '{"o": {"b": true, "s": "true"}}'],
    ['objects without a schema', element('free', element('x', '1')), '{"free": {"x": 1}}'],
    ['JSON in the place of elements', element('list', '[3]'), '{"list": [3]}'],
    ['empty lists and objects', element('list', '') + element('free', ' '), '{"list": [], "free": {}}'],
    ['objects with a key like that of items', element('free', element('item', '1')), '{"free": {"item": 1}}'],
    ['undeclared keys', element('x', '1'), '{"x": "1"}'],
    ['blanks between elements', ` \n${element('n', '1')}\n ${element('s', 'a')} `, '{"n": 1, "s": "a"}'],
    ['tags without the prefix', element('s', '<n>1</n>'), '{"s": "<n>1</n>"}'],
    ['a prefix without a tag', element('s', 'a # b #c'), '{"s": "a # b #c"}'],
    ['a closing tag quoted in a value', element('s', 'a #</s> b'), '{"s": "a #</s> b"}'],
    ['closing tags of nothing', `#</x>${element('n', '1')}#</n>`, '{"n": 1}'],
    ['elements that their parent closes', '#<o>#<b>true#</o>', '{"o": {"b": true}}'],
  ])('make %s', (_case, text, json) => {
    expect(readInAllCuts(`${text}#</invoke> rest`)).toEqual({json, state: 'done', rest: ' rest'});
  });

  it('say nothing of a call that was cut off', () => {
    expect(readInAllCuts(element('s', 'a'))).toEqual({json: '', state: 'done', rest: ''});
  });

  it('take long text behind a prefix for text', () => {
    const long = `#<${'x'.repeat(300)}>`;
    expect(readInAllCuts(`${element('s', long)}#</invoke>`).json).toBe(JSON.stringify({s: long}).replace(':', ': '));
  });
});
