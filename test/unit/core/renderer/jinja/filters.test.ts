import {describe, expect, it} from 'vitest';
import {callValue} from '../../../../../src/core/renderer/jinja/attributes.ts';
import {createGlobals} from '../../../../../src/core/renderer/jinja/globals.ts';
import {str} from '../../../../../src/core/renderer/jinja/text.ts';
import {positionalArguments} from '../../../../../src/core/renderer/jinja/values.ts';
import {parseJson} from '../../../../../src/core/util/parse-json.ts';
import {context, filter, passes, shown} from './python-support.ts';

const people = [
  {n: 'x', v: 2, t: {q: 1}},
  {n: 'y', v: 1},
];

describe('filters', () => {
  it.each<[string, unknown, unknown[], string]>([
    [
      'title',
      "hELLO wORLD-foo bar's",
      [],
      "'Hello World-Foo Bar\\'s'".replace("'Hello World-Foo Bar\\'s'", `"Hello World-Foo Bar's"`),
    ],
    ['round', 2.5, [], '2.0'],
    ['round', 2.675, [2], '2.67'],
    ['round', 42, [2, 'floor'], '42.0'],
    ['round', 42, [], '42'],
    ['int', '0x1f', [0, 16], '31'],
    ['int', ' 12 ', [], '12'],
    ['int', '1.9', [], '1'],
    ['int', 'x', [7], '7'],
    ['float', '1_0e1', [], '100.0'],
    ['filesizeformat', 1234567, [], "'1.2 MB'"],
    ['indent', 'a\n\nb', ['> ', true], "'> a\\n\\n> b'"],
    ['truncate', 'aaaa bbbb cccc', [9, false, '..', 0], "'aaaa..'"],
    ['wordwrap', 'well-known words', [6], "'well-\\nknown\\nwords'"],
    ['replace', 'aaa', ['a', 'b', 2], "'bba'"],
    ['striptags', '<p>a  <b>b</b> &amp; c</p>', [], "'a b & c'"],
    ['urlencode', {a: 1, b: 'x y/'}, [], "'a=1&b=x+y%2F'"],
    ['xmlattr', {a: 1, b: null, c: 'x"'}, [], `' a="1" c="x&#34;"'`],
    ['sort', ['b', 'A', 'c', 'a', 'B'], [], "['A', 'a', 'b', 'B', 'c']"],
    ['sort', [1, 'a'], [], "TypeError: '<' not supported between instances of 'str' and 'int'"],
    ['sort', people, [false, false, 'v,n'], "[{'n': 'y', 'v': 1}, {'n': 'x', 'v': 2, 't': {'q': 1}}]"],
    ['dictsort', {b: 1, A: 2}, [], "[('A', 2), ('b', 1)]"],
    ['unique', ['b', 'B', 'a'], [], "['b', 'a']"],
    ['batch', [1, 2, 3], [2, 'x'], "[[1, 2], [3, 'x']]"],
    ['slice', [1, 2, 3, 4], [3], '[[1, 2], [3], [4]]'],
    ['groupby', people, ['v'], "[(1, [{'n': 'y', 'v': 1}]), (2, [{'n': 'x', 'v': 2, 't': {'q': 1}}])]"],
    ['map', [' a', 'b '], ['trim'], "['a', 'b']"],
    ['selectattr', people, ['t', 'undefined'], "[{'n': 'y', 'v': 1}]"],
    ['rejectattr', people, ['v', 'gt', 1], "[{'n': 'y', 'v': 1}]"],
    ['sum', people, ['v'], '3'],
    ['pprint', {b: 'x'.repeat(40), a: 'y'.repeat(40)}, [], `"{'a': '${'y'.repeat(40)}',\\n 'b': '${'x'.repeat(40)}'}"`],
    ['upper', [1], [], "'[1]'"],
    ['trim', null, [], "'None'"],
    ['length', null, [], "TypeError: object of type 'NoneType' has no len()"],
    ['round', 1, [0, 'up'], 'FilterArgumentError: method must be common, ceil or floor'],
  ])('%s of %o with %o', (name, value, rest, expected) => expect(filter(name, value, rest)).toBe(expected));

  it('binds keywords and names what is wrong', () => {
    expect(filter('map', people, [], {attribute: 'n'})).toBe("['x', 'y']");
    expect(filter('default', 'a', [], {other: 1})).toBe(
      "TypeError: do_default() got an unexpected keyword argument 'other'",
    );
    expect(filter('batch', [1])).toBe("TypeError: do_batch() missing 1 required positional argument: 'linecount'");
  });
});

describe('tojson', () => {
  const value = parseJson('{"b": [1, 2.0, 1e21], "10": "é<&>", "a": {}}');

  it('writes as json.dumps does', () => {
    expect(filter('tojson', value)).toBe(`'{"b": [1, 2.0, 1e+21], "10": "é<&>", "a": {}}'`);
    expect(filter('tojson', value, [], {separators: [',', ':'], sort_keys: true})).toBe(
      `'{"10":"é<&>","a":{},"b":[1,2.0,1e+21]}'`,
    );
    expect(filter('tojson', {a: [1]}, [true, 2])).toBe(`'{\\n  "a": [\\n    1\\n  ]\\n}'`);
  });
});

describe('tests', () => {
  it.each<[string, unknown[], string]>([
    ['odd', [3], 'True'],
    ['divisibleby', [6, 4], 'False'],
    ['sequence', [{}], 'True'],
    ['mapping', [[]], 'False'],
    ['number', [true], 'True'],
    ['lower', ['1'], 'False'],
    ['in', [1, [1]], 'True'],
    ['filter', ['upper'], 'True'],
    ['odd', ['a'], 'TypeError: not all arguments converted during string formatting'],
  ])('%s of %o', (name, values, expected) => expect(passes(name, ...values)).toBe(expected));
});

describe('globals', () => {
  const globals = createGlobals(context);

  it('formats the time', () => {
    const format = '%A %d %b %Y %-d %e %I %p %j %U %V %y %%';
    expect(str(callValue(globals.get('strftime_now')!, positionalArguments(format)))).toBe(
      'Monday 05 Jan 2026 5  5 01 PM 005 01 02 26 %',
    );
  });

  it('limits ranges', () => {
    const range = globals.get('range')!;
    expect(shown(() => callValue(range, positionalArguments(1, 7, 2)))).toBe('range(1, 7, 2)');
    expect(shown(() => callValue(range, positionalArguments(10 ** 6)))).toMatch(/^OverflowError: Range too big/);
  });

  it('raises with the text alone', () => {
    expect(shown(() => callValue(globals.get('raise_exception')!, positionalArguments('no')))).toBe(
      'TemplateError: no',
    );
  });
});
