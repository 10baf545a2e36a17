import {describe, expect, it} from 'vitest';
import {getAttribute, getItem} from '../../../../../src/core/renderer/jinja/attributes.ts';
import {fromJson} from '../../../../../src/core/renderer/jinja/from-json.ts';
import {Markup, Undefined} from '../../../../../src/core/renderer/jinja/objects.ts';
import {repr, str} from '../../../../../src/core/renderer/jinja/text.ts';
import {method, shown} from './python-support.ts';

describe('methods of str', () => {
  it.each<[unknown, string, unknown[], string]>([
    [' \t\u0085\u001cx\ufeff ', 'strip', [], "'x\\ufeff'"],
    ['\n  x', 'lstrip', ['\n'], "'  x'"],
    ['xyaxy', 'strip', ['yx'], "'a'"],
    [' a  b c ', 'split', [null, 1], "['a', 'b c ']"],
    [' a  b c ', 'rsplit', [null, 1], "[' a  b', 'c']"],
    ['a,b,c', 'rsplit', [',', 1], "['a,b', 'c']"],
    ['a', 'split', [''], 'ValueError: empty separator'],
    ['a\nb\r\nc\u2028d', 'splitlines', [], "['a', 'b', 'c', 'd']"],
    ['a😀b😀', 'find', ['b'], '2'],
    ['a😀b😀', 'rindex', ['😀'], '3'],
    ['abc', 'startswith', ['bc', 1], 'True'],
    ['abc', 'index', ['z'], 'ValueError: substring not found'],
    ['ß ǆ ﬁ', 'title', [], "'Ss ǅ Fi'"],
    ["they're", 'title', [], `"They'Re"`],
    ['ΣΊΣ', 'lower', [], "'σίς'"],
    ['Straße', 'casefold', [], "'strasse'"],
    ['²', 'isdigit', [], 'True'],
    ['½', 'isdigit', [], 'False'],
    ['-7', 'zfill', [4], "'-007'"],
    ['ab', 'center', [5, '*'], "'**ab*'"],
    ['{0}{1!r:>6}{2[a]}', 'format', [1, 'x', {a: 2}], `"1   'x'2"`],
    ['{0.__class__}', 'format', ['x'], "''"],
    ['a', 'join', [['x', 1]], 'TypeError: sequence item 1: expected str instance, int found'],
    ['a', 'upper', [1], 'TypeError: str.upper() takes no arguments (1 given)'],
  ])('%o.%s(%o)', (receiver, name, values, expected) => expect(method(receiver, name, ...values)).toBe(expected));
});

describe('methods of lists and dicts', () => {
  it('reads', () => {
    expect(method({a: 1}, 'get', 'z', 2)).toBe('2');
    expect(method({items: 1}, 'items')).toBe("dict_items([('items', 1)])");
    expect(method([3, 1], 'index', 1)).toBe('1');
  });

  it('refuses to change', () => {
    const refused = "SecurityError: access to attribute 'append' of 'list' object is unsafe.";
    expect(method([1], 'append', 1)).toBe(refused);
  });
});

describe('attributes and items', () => {
  const dict = fromJson({items: 1, a: 2});

  it('prefer their own side', () => {
    expect(repr(getItem(dict, 'items'))).toBe('1');
    expect(repr(getAttribute(dict, 'a'))).toBe('2');
    expect(repr(getItem('abc', -1))).toBe("'c'");
  });

  it('tell what is missing when it is used', () => {
    const missing = getAttribute(dict, 'b') as Undefined;
    expect(str(missing)).toBe('');
    expect(missing.error().message).toBe("'dict object' has no attribute 'b'");
    expect((getItem([1], 3) as Undefined).error().message).toBe('list object has no element 3');
    expect(shown(() => getAttribute(Undefined.ofName('x'), 'a'))).toBe("UndefinedError: 'x' is undefined");
  });

  it('keep private names private', () => {
    const refused = getAttribute('', '__class__') as Undefined;
    expect(refused.error().message).toBe("access to attribute '__class__' of 'str' object is unsafe.");
  });
});

describe('escaped text', () => {
  it('stays escaped and escapes what joins it', () => {
    expect(method(new Markup('<b>'), 'upper')).toBe("Markup('<B>')");
    expect(method(new Markup('<i>{}</i>'), 'format', '<')).toBe("Markup('<i>&lt;</i>')");
    expect(method(new Markup(', '), 'join', ['<'])).toBe("Markup('&lt;')");
  });
});
