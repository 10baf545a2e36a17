import {describe, expect, it} from 'vitest';
import {ValidationError} from '../../../../src/core/errors.ts';
import {checkConstraintCompiles} from '../../../../src/core/structured-output/request-constraint.ts';
import {accepts, outputConstraint} from '../../../support/constrained-text.ts';

const tag = (format: object) => JSON.stringify({type: 'structural_tag', format});
const booleanTag = {
  type: 'tag',
  begin: '<a>',
  content: {type: 'json_schema', json_schema: {type: 'boolean'}},
  end: '</a>',
};
const call = {begin: '<f=x>', content: {type: 'json_schema', json_schema: {type: 'integer'}}, end: '</f>'};
const calls = {type: 'triggered_tags', triggers: ['<f='], tags: [call]};
const city = {
  type: 'object',
  properties: {city: {enum: ['Paris', 'Rome']}, note: {type: 'string'}},
  required: ['city'],
};

type Kind = Parameters<typeof outputConstraint>[0]['kind'];

describe.each<[Kind, string, string[], string[]]>([
  ['regex', 'a{2,3}|b', ['aa', 'aaa', 'b'], ['a', 'aaaa', 'ab', '']],
  ['regex', '^a?$', ['', 'a'], ['aa']],
  ['regex', '(?:x|(?<n>y))+?[^\\]\\-]\\.', ['xy!.', 'xx.'], ['x].', 'x-.', '!.']],
  ['regex', '[\\u00e9-\\u{1F600}]', ['é', '😀', '中'], ['e', '😁']],
  ['regex', '[]', [], ['a']],
  ['choice', '["red","green"]', ['red', 'green'], ['re', 'redgreen', '"red"']],
  ['grammar', 'root ::= "yes" | "no" ok?\n# a comment\nok ::= [!?]{1,2}', ['yes', 'no', 'no!?'], ['no!!!', 'maybe']],
  [
    'grammar',
    'root ::= item ("," item)*\nitem ::= [0-9]+ | "(" root ")"',
    ['1', '1,(2,3)', '((4))'],
    ['(1', ',', '1,'],
  ],
  ['grammar', 'root ::= "\\u00e9\\x41\\"" [^a-y\\n]', ['éA"z', 'éA"é'], ['éA"a']],
  [
    'grammar',
    'start: greeting " " NAME -> named\n | "-"~2..3\n?greeting: "hi" | "ho"\nNAME.2: /[A-Z][a-z]*/ // a name',
    ['hi Ann', 'ho B', '--', '---'],
    ['hi ann', '-', '----'],
  ],
  ['grammar', 'start: ["a"] "x".."z"', ['x', 'az'], ['a', 'w']],
  ['grammar', 'start: "yEs"i | /[a-c]é/i', ['YES', 'yes', 'BÉ', 'cé'], ['ye', 'dé']],
  [
    'grammar',
    '%import common.INT\n%import common (WS, CNAME)\n%ignore WS\nstart: sum\nsum: value ("+" value)*\nvalue: INT | CNAME',
    ['1+2', ' 1 + x\n', 'a'],
    ['1 2', '+', '1+'],
  ],
  ['grammar', '%import common.WS_INLINE -> GAP\nstart: "a" GAP "b"', ['a b', 'a \tb'], ['ab']],
  ['structural_tag', tag(booleanTag), ['<a>true</a>', '<a>false</a>'], ['<a>1</a>', 'true']],
  ['structural_tag', tag(calls), ['text', 'a <f=x>12</f> b <f=x>-3</f>', '<f', ''], ['<f=y>', '<f=x>1', '<f=x>a</f>']],
  [
    'structural_tag',
    tag({...calls, at_least_one: true}),
    ['<f=x>1</f>', '<f=x>1</f> and <f=x>2</f>'],
    ['', 'text', 'a<f=x>1</f>'],
  ],
  ['structural_tag', tag({...calls, at_least_one: true, stop_after_first: true}), ['<f=x>1</f>'], ['<f=x>1</f>!']],
  ['structural_tag', tag({...calls, stop_after_first: true}), ['a<f=x>1</f>', 'a'], ['a<f=x>1</f>b']],
  [
    'structural_tag',
    tag({type: 'tag', begin: '<a>', content: {type: 'any_text'}, end: '</a>'}),
    ['<a>x</</a>', '<a></a>'],
    ['<a>x</a>y</a>', '<a>x'],
  ],
  [
    'structural_tag',
    tag({type: 'tags_with_separator', tags: [call], separator: ';'}),
    ['', '<f=x>1</f>;<f=x>2</f>'],
    ['<f=x>1</f>;'],
  ],
  [
    'structural_tag',
    tag({
      type: 'sequence',
      elements: [
        {type: 'const_string', value: 'a'},
        {type: 'regex', pattern: '\\d'},
        {type: 'grammar', grammar: 'root ::= "x"'},
      ],
    }),
    ['a1x'],
    ['a1'],
  ],
  [
    'structural_tag',
    tag({type: 'or', elements: [{type: 'const_string', value: 'a'}, booleanTag]}),
    ['a', '<a>true</a>'],
    ['b'],
  ],
  [
    'structural_tag',
    tag({
      type: 'qwen_xml_parameter',
      json_schema: {type: 'object', properties: {n: {type: 'integer'}, s: {type: 'string'}}, required: ['n']},
    }),
    ['<parameter=n>1</parameter>', '<parameter=n>1</parameter>\n<parameter=s>a "b" <c></parameter>'],
    ['<parameter=s>a</parameter>', '<parameter=n>a</parameter>'],
  ],
  [
    'structural_tag',
    JSON.stringify({structures: [{begin: '<f=x>', schema: {type: 'integer'}, end: '</f>'}], triggers: ['<f=']}),
    ['text <f=x>1</f>'],
    ['<f=x>a</f>'],
  ],
  [
    'json',
    JSON.stringify(city),
    ['{"city":"Rome"}', '{ "city" : "Paris","note":"é\\n\\u0041" }'],
    ['{}', '{"city":"Oslo"}', '{"note":"a","city":"Rome"}', '{"city":"Rome","x":1}'],
  ],
  ['json', '{"type":"string"}', ['""', '"a\\"b"', '"\\ud7ff"'], ['"a\nb"', '"\\ud800"', '"\\x"', 'a']],
  ['json', '{"type":"string","pattern":"^\\"\\\\\\\\$"}', ['"\\"\\\\"'], ['"a"', '"\\""']],
  [
    'json',
    '{"type":"integer","minimum":-12,"exclusiveMaximum":105}',
    ['-12', '-1', '0', '9', '104'],
    ['-13', '105', '-0', '00', '1.0'],
  ],
  [
    'json',
    '{"type":"number","exclusiveMinimum":0,"maximum":1.5}',
    ['0.01', '1', '1.50', '0.99'],
    ['0', '0.00', '1.51', '2'],
  ],
  ['json', '{"type":"number"}', ['1', '-0.5', '1e9', '2E-10'], ['.5', '01', '1.', '1e999']],
  ['json', '{"type":"integer","multipleOf":7}', ['0', '7', '-14', '707'], ['8', '07']],
  [
    'json',
    '{"type":"array","prefixItems":[{"const":1},{"const":2}],"items":{"type":"null"},"minItems":1,"maxItems":3}',
    ['[1]', '[1,2]', '[1, 2,null]'],
    ['[]', '[2]', '[1,2,null,null]'],
  ],
  ['json', '{"type":["integer","null"]}', ['1', 'null'], ['"1"']],
  ['json', '{"enum":["a",{"b":[1]}],"type":"object"}', ['{"b":[1]}'], ['"a"']],
  [
    'json',
    '{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}}}',
    ['{}', '{"n":{"n":{}}}'],
    ['{"n":1}'],
  ],
  [
    'json',
    '{"type":"object","properties":{"ab":{"const":1}},"additionalProperties":{"const":2}}',
    ['{"ab":1,"a":2,"abc":2}', '{"b":2}'],
    ['{"ab":2}', '{"a":2,"ab":1}'],
  ],
  [
    'json',
    '{"type":"object","additionalProperties":{"type":"null"},"maxProperties":1}',
    ['{}', '{"x":null}'],
    ['{"x":null,"y":null}'],
  ],
  [
    'json',
    '{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"properties":{"a":{"minimum":5}},"required":["a"]}]}',
    ['{"a":5}'],
    ['{}', '{"a":4}'],
  ],
  [
    'json',
    '{"type":"string","pattern":"^a+$","minLength":2,"maxLength":3}',
    ['"aa"', '"aaa"'],
    ['"a"', '"aaaa"', '"ab"'],
  ],
  [
    'json',
    '{"type":"string","pattern":"^(?=.*[A-Z])(?=.*\\\\d)(?!admin).{4,6}$"}',
    ['"aB1c"', '"1234A"'],
    ['"ab1c"', '"adminA1"', '"A1"'],
  ],
  [
    'json',
    '{"type":"string","not":{"enum":["no","nil"]},"maxLength":3}',
    ['"yes"', '"n"', '""'],
    ['"no"', '"nil"', '"none"'],
  ],
  ['json', '{"type":"integer","not":{"const":5},"minimum":4,"maximum":6}', ['4', '6'], ['5', '7']],
  ['json', '{"type":"number","minimum":0,"multipleOf":0.05}', ['0', '3', '1.25', '0.10'], ['-1', '0.01', '1.255']],
  ['json', '{"type":"integer","multipleOf":5,"minimum":-7,"maximum":11}', ['-5', '0', '10'], ['-10', '3', '15']],
  ['json', '{"type":"integer","multipleOf":12,"minimum":30}', ['36', '1200'], ['24', '12', '37', '-36']],
  [
    'json',
    '{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true,"minItems":1}',
    ['["b"]', '["c","a","b"]'],
    ['[]', '["a","a"]', '["a","b","a"]'],
  ],
  [
    'json',
    '{"type":"array","items":{"type":"integer"},"contains":{"const":7},"maxContains":2,"maxItems":4}',
    ['[7]', '[1,7]', '[7,2,7]'],
    ['[]', '[1]', '[7,7,7]', '[1,2,3,4,7]'],
  ],
  [
    'json',
    '{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"dependentRequired":{"a":["b"]}}',
    ['{}', '{"b":null}', '{"a":null,"b":null}'],
    ['{"a":null}'],
  ],
  [
    'json',
    '{"type":"object","properties":{"k":{"enum":["x","y"]},"n":{"type":"integer"}},"required":["k"],"if":{"properties":{"k":{"const":"x"}}},"then":{"required":["n"]},"else":{"not":{"required":["n"]}}}',
    ['{"k":"x","n":1}', '{"k":"y"}'],
    ['{"k":"x"}', '{"k":"y","n":1}'],
  ],
  [
    'json',
    '{"type":"object","properties":{"a":{"type":"null"}},"patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":5}},"additionalProperties":{"type":"boolean"}}',
    ['{"a":null,"x":1,"b":true}', '{"xy":5}', '{"by":7}'],
    ['{"xy":4}', '{"x":true}', '{"b":1}', '{"by":true}'],
  ],
  [
    'json',
    '{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"minProperties":2,"maxProperties":2}',
    ['{"a":null,"b":null}', '{"a":null,"c":null}', '{"b":null,"c":null}'],
    ['{}', '{"a":null}', '{"a":null,"b":null,"c":null}'],
  ],
  [
    'json',
    '{"type":"object","propertyNames":{"enum":["p","q"]},"additionalProperties":{"type":"integer"}}',
    ['{}', '{"p":1}', '{"p":1,"q":2}'],
    ['{"r":1}', '{"p":1,"p":2}'],
  ],
  ['json', '{"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","minimum":10}]}', ['4', '-2'], ['12', '3']],
  [
    'json',
    '{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}]}',
    ['{"a":1}', '{"b":1}'],
    ['{}', '{"a":1,"b":1}'],
  ],
  [
    'json',
    '{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false},{"properties":{"b":{"type":"integer"}}}]}',
    ['{}', '{"a":1}'],
    ['{"b":1}'],
  ],
  ['json', '{"type":"string","format":"date"}', ['"2024-02-28"'], ['"2024-13-01"', '"24-01-01"']],
  ['json_object', '', ['{}', '{"a": [1, "b", {"c": null}]}'], ['[]', '1', '{"a"}']],
])('%s %s', (kind, source, good, bad) => {
  it.each(good)('accepts %j', (text) => expect(accepts(outputConstraint({kind, text: source}), text)).toBe(true));
  it.each(bad)('refuses %j', (text) => {
    // An empty class leaves nothing to accept, which is refused as a whole.
    if (source === '[]')
      expect(() => checkConstraintCompiles(outputConstraint({kind, text: source}))).toThrow(/no finite text/);
    else expect(accepts(outputConstraint({kind, text: source}), text)).toBe(false);
  });
});

describe('white space of JSON', () => {
  const object = '{"type":"object","properties":{"a":{"type":"array","items":{"type":"null"}}},"required":["a"]}';

  it('is spaces, tabs and line ends', () => {
    expect(accepts(outputConstraint({kind: 'json', text: object}), '{\n\t"a" :[ null ] }')).toBe(true);
  });

  it('is that of one line on request', () => {
    const oneLine = outputConstraint({kind: 'json', text: object, disablesAnyWhitespace: true});
    expect(accepts(oneLine, '{"a": [null, null]}')).toBe(true);
    expect(accepts(oneLine, '{"a":[null]}')).toBe(false);
  });

  it('follows a pattern', () => {
    const patterned = outputConstraint({kind: 'json', text: object, whitespacePattern: ' ?'});
    expect(accepts(patterned, '{ "a" : [null]}')).toBe(true);
    expect(accepts(patterned, '{  "a": [null]}')).toBe(false);
  });

  it('leaves objects open or closed', () => {
    const open = outputConstraint({kind: 'json', text: '{"type":"object"}'});
    expect(accepts(open, '{"x":1}')).toBe(true);
    expect(accepts({...open, disablesAdditionalProperties: true}, '{"x":1}')).toBe(false);
  });
});

describe('what cannot be used', () => {
  it.each<[Kind, string, string]>([
    ['regex', '(', 'regex, position 1: the group is not closed'],
    ['regex', 'a(?=b)', 'regex, position 2: look-around and inline flags are not supported'],
    ['regex', '(a)\\1', 'regex, position 4: `\\1` is not supported'],
    ['regex', 'a{3,2}', 'regex, position 2: the counts of {3,2} are in the wrong order'],
    ['regex', '[b-a]', 'regex, position 5: the range of the class is in the wrong order'],
    ['regex', 'a)', 'regex, position 2: there is no group that this `)` could close'],
    ['regex', '*', 'regex, position 1: nothing stands before `*` that could be repeated'],
    ['grammar', 'root ::= (', 'grammar, line 1, column 11: an element is expected; write "" for the empty text'],
    ['grammar', 'root ::= "a"\n  b', 'grammar, line 2, column 3: rule "b" is not defined'],
    ['grammar', 'a ::= "x"', 'grammar, line 1, column 1: there is no rule "root"'],
    ['grammar', 'root ::= "a', 'grammar, line 1, column 10: the text is not closed'],
    ['grammar', 'root ::= a "x"\na ::= "b"? root', 'rule "root" begins with itself (left recursion)'],
    ['grammar', 'root ::= "a" root', 'no finite text matches the constraint'],
    [
      'grammar',
      '%declare INT\nstart: INT',
      'grammar, line 1, column 1: of the directives, %import and %ignore are supported',
    ],
    ['grammar', '%import common.BOGUS\nstart: "a"', 'grammar, line 1, column 1: there is no terminal common.BOGUS'],
    ['grammar', 'start: /a/m', 'grammar, line 1, column 8: of the flags, i and s are supported'],
    [
      'structural_tag',
      tag({type: 'tag', begin: 'a', content: {type: 'bogus'}, end: ''}),
      'structural tag, format.content.type: Invalid discriminator value',
    ],
    ['structural_tag', tag({...calls, triggers: ['x']}), 'structural tag, tags: no trigger begins "<f=x>"'],
    ['json', '{"type":"nonsense"}', 'JSON schema, #: unsupported type "nonsense"'],
    ['json', '{"not":{"format":"date"}}', 'JSON schema, #/not: no value can be told to break this schema'],
    [
      'json',
      '{"items":{"uniqueItems":true}}',
      'JSON schema, #/items: "uniqueItems" is supported for items that are an enumeration only',
    ],
    ['json', '{"type":"integer","multipleOf":0}', 'JSON schema, #: "multipleOf" must be above 0'],
    [
      'json',
      '{"additionalProperties":{"type":"null"},"minProperties":3}',
      'JSON schema, #: "minProperties" above 1 is not supported: a name could come twice',
    ],
    ['json', '{"$ref":"#/x"}', 'JSON schema, #: "#/x" does not exist'],
    [
      'json',
      '{"$ref":"http://example.org"}',
      'JSON schema, #: only references within the schema (#/…) are supported, not "http://example.org"',
    ],
    ['json', '{"type":"integer","minimum":3,"maximum":2}', 'JSON schema, #: the bounds leave no number'],
    ['json', '{"pattern":"^a+$","minLength":3,"maxLength":2}', 'JSON schema, #: the rules leave no text'],
    [
      'json',
      '{"pattern":"^(a|b)*a(a|b){40}$","maxLength":300}',
      'a pattern together with what stands next to it needs more than 20000 states',
    ],
    [
      'json',
      '{"pattern":"b(?!a)"}',
      'JSON schema, #/pattern, position 2: look-around and inline flags are not supported',
    ],
    ['json', '{"type":"string","format":"card"}', 'JSON schema, #: format "card" is not supported; known are '],
    ['json', '{"oneOf":[{"type":"string"},{"type":"string"}]}', 'JSON schema, #/oneOf/0: no value is left'],
    ['json', '{"enum":[]}', 'JSON schema, #: no value is left'],
    ['json', 'false', 'JSON schema, #: no value can satisfy `false`'],
    ['json', '{"allOf":[{"type":"string"},{"type":"null"}]}', 'JSON schema, #: no value is left'],
  ])('%s %s', (kind, text, message) => {
    const run = () => checkConstraintCompiles(outputConstraint({kind, text}));
    expect(run).toThrow(ValidationError);
    expect(run).toThrow(`Invalid structured outputs: ${message}`);
  });

  it('is a pattern of white space that matches more', () => {
    const constraint = outputConstraint({kind: 'json', text: '{}', whitespacePattern: '[ x]'});
    expect(() => checkConstraintCompiles(constraint)).toThrow('may match spaces, tabs and line ends only');
  });
});
