/** The language itself: white space, scopes, loops, macros, blocks, and where errors are said to be. */
import {describe, expect, it} from 'vitest';
import {TemplateError} from '../../../../../src/core/errors.ts';
import {compileChatTemplate} from '../../../../../src/core/renderer/chat-template.ts';

function render(source: string, variables: Record<string, unknown> = {}): string {
  return compileChatTemplate(source).render(variables);
}

function failure(source: string, variables: Record<string, unknown> = {}): TemplateError {
  try {
    render(source, variables);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error(`no error in ${source}`);
}

describe('white space', () => {
  it.each([
    ['a\n  {% if true %}\n  b\n  {% endif %}\nc\n', 'a\n  b\nc'],
    ['a {%- if true -%} \n b \n {%- endif -%} \n c', 'abc'],
    ['  {%+ if true %}\nx{% endif +%}\ny', '  x\ny'],
    ['{# one #}\n  {#- two -#}  \nz', 'z'],
    ['{% raw %}{{ a }}{% endraw %}\r\n{{ 1 }}\r\n', '{{ a }}1'],
    ['{% raw -%}  {% x %}  {%- endraw %}!', '{% x %}!'],
    ['{{ "}}" }}{{ {"a": {"b": "%}"}}["a"]["b"] }}', '}}%}'],
    ['{#', ''],
  ])('%j', (source, expected) => {
    expect(render(source)).toBe(expected);
  });
});

describe('literals', () => {
  it.each([
    ['0x1F + 0b11 + 0o17 + 1_000', '1049'],
    ['1e3', '1000.0'],
    ['12345678901234567890', '12345678901234567890'],
    [String.raw`"\x41\u00e9\101\d\n" "more"`, 'AéA\\d\nmore'],
    [String.raw`"\é"`, String.raw`\xe9`],
    ['(1,)', '(1,)'],
    ['()', '()'],
    ['{1: 2, "a": none}', "{1: 2, 'a': None}"],
  ])('%s', (expression, expected) => {
    expect(render(`{{ ${expression} }}`)).toBe(expected);
  });
});

describe('scopes', () => {
  it('undoes what a turn of a loop has set', () => {
    expect(render('{% set x = 0 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}')).toBe('120');
  });

  it('keeps what a condition has set', () => {
    expect(render('{% if a %}{% set x = 1 %}{% endif %}{{ x }}', {a: true, x: 5})).toBe('1');
    expect(render('{% if a %}{% set x = 1 %}{% endif %}{{ x }}', {a: false, x: 5})).toBe('5');
  });

  it('hides a variable that is set later from macros above', () => {
    expect(render('{% macro m() %}[{{ x }}]{% endmacro %}{{ m() }}{% set x = 1 %}{{ m() }}', {x: 9})).toBe('[][1]');
  });

  it('gives macros their arguments, defaults, and what is left over', () => {
    const macro = '{% macro m(a, b=a) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}';
    expect(render(`${macro}{{ m(1) }} {{ m(1, 2, 3, c=4) }} {{ m(b=2) }}`)).toBe("11(){} 12(3,){'c': 4} 2(){}");
  });

  it('hands the body of a call block to its macro', () => {
    const macro = '{% macro m() %}<{{ caller(1) }}{{ caller(2) }}>{% endmacro %}';
    expect(render(`${macro}{% set y = 'y' %}{% call(x) m() %}{{ x }}{{ y }}{% endcall %}`)).toBe('<1y2y>');
  });

  it('binds the names of with only inside', () => {
    expect(render('{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}', {a: 7})).toBe('177');
  });

  it('lets blocks see what the top level has set, and scoped ones the loop too', () => {
    expect(render('{% set a = 1 %}{% block x %}{{ a }}{% endblock %}{{ self.x() }}')).toBe('11');
    expect(render('{% for i in [1] %}{% block x %}[{{ i }}]{% endblock %}{% endfor %}')).toBe('[]');
    expect(render('{% for i in [1] %}{% block x scoped %}[{{ i }}]{% endblock %}{% endfor %}')).toBe('[1]');
  });

  it('knows which names come from outside', () => {
    const {variables} = compileChatTemplate(
      '{% set a = 1 %}{{ a }}{{ b }}{% for c in d if e %}{{ c }}{% endfor %}{% if f %}{% set g = 1 %}{% endif %}' +
        '{% macro h(i) %}{{ i }}{{ j }}{{ range(3) }}{% endmacro %}{{ raise_exception }}',
    );
    expect([...variables].sort()).toEqual(['b', 'd', 'e', 'f', 'g', 'j', 'raise_exception']);
  });
});

describe('loops', () => {
  it('know where they stand', () => {
    const members = 'index, loop.index0, loop.revindex, loop.revindex0, loop.first, loop.last, loop.length, loop.depth';
    expect(render(`{% for x in 'ab' %}{{ (loop.${members}) }}{% endfor %}`)).toBe(
      '(1, 0, 2, 1, True, False, 2, 1)(2, 1, 1, 0, False, True, 2, 1)',
    );
    expect(render('{% for x in [1, none] %}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}')).toBe('None;1;');
  });

  it('count the elements that their condition lets through', () => {
    expect(render('{% for x in [1, 2, 3] if x != 2 %}{{ x }}/{{ loop.length }} {% endfor %}')).toBe('1/2 3/2 ');
  });

  it('run else when no turn came to its end', () => {
    expect(render('{% for x in [] %}{% else %}none{% endfor %}')).toBe('none');
    expect(render('{% for x in [1] %}a{% continue %}{% else %}none{% endfor %}')).toBe('anone');
  });

  it('call themselves', () => {
    const tree = [
      {n: 1, c: [{n: 2, c: [{n: 3, c: []}]}]},
      {n: 4, c: []},
    ];
    const source = '{% for t in tree recursive %}{{ loop.depth }}{{ t.n }}({{ loop(t.c) }}){% endfor %}';
    expect(render(source, {tree})).toBe('11(22(33()))14()');
  });
});

describe('numbers', () => {
  it('keep the kind that they had in the request', () => {
    const variables = {tools: {one: 1, big: 12345678901234567890n, half: 0.5}};
    expect(render('{{ tools|tojson }}', variables)).toBe('{"one": 1, "big": 12345678901234567890, "half": 0.5}');
  });
});

describe('errors', () => {
  it.each([
    ['a\nb {{ 1 + }}', "unexpected 'end of print statement'", 2, 10],
    ['{% for x in l %}', /^Unexpected end of template. Jinja was looking for .* block .* 'for'.$/, 1, 17],
    ['{% endif %}', "Encountered unknown tag 'endif'.", 1, 4],
    ['{% if a %}{% endfor %}', /You probably made|Encountered unknown tag 'endfor'/, 1, 14],
    ['{{ x|nofilter }}', 'No filter named \'nofilter\'.\n  File "<introspection>", line 1', 1, 6],
    ['{% if a %}\n{{ x|nofilter }}{% endif %}ok\n{{ u.v }}', "'u' is undefined", 3, 4],
    ['{% if true %}\n{{ x|nofilter }}{% endif %}', "No filter named 'nofilter' found.", 2, 6],
    ["{{ 'a' }}\n{{ 'a'\n  ~ 1 + none }}", 'can only concatenate str (not "NoneType") to str', 2, 4],
    ["{% macro m(x) %}\n {{ raise_exception('no ' ~ x) }}{% endmacro %}\n{{ m('way') }}", 'no way', 2, 5],
    ['{% break %}', "'break' outside loop", 1, 1],
    ['{% include "x" %}', 'no loader for this environment specified', 1, 1],
    ['{% block a %}{% endblock %}{% block a %}{% endblock %}', /block 'a' defined twice/, 1, 28],
    ['{{ m(a=1, a=2) }}', 'keyword argument repeated: a', 1, 4],
    ['{% set ns.x = 1 %}', 'cannot assign attribute on non-namespace object', 1, 1],
    ['{% for loop in [1] %}{{ loop }}{% endfor %}', /Can't assign to special loop variable/, 1, 8],
  ])('%j: %s', (source, message, line, column) => {
    const error = failure(source);
    if (message instanceof RegExp) expect(error.message).toMatch(message);
    else expect(error.message).toBe(message);
    expect([error.line, error.column]).toEqual([line, column]);
  });

  it('show the lines around the place', () => {
    expect(failure('one\ntwo\nthree\n\t{{ a.b }}').codeFrame).toBe('2 | two\n3 | three\n4 |  {{ a.b }}\n  |     ^');
  });
});

describe('what jinja2 computes beforehand', () => {
  it.each([
    ['{% if false %}{{ {[]: 1} }}{% endif %}', "unhashable type: 'list'"],
    ['{% if false %}{% set x = {(1, {}): 1} == y %}{% endif %}', "unhashable type: 'dict'"],
    ['{% filter length %}text{% endfilter %}', 'sequence item 0: expected str instance, int found'],
    ['{% set x = (0)[1:] %}', "'int' object is not subscriptable"],
  ])('fails in %s', (source, message) => {
    expect(failure(source).message).toBe(message);
  });

  it.each([
    ['{% if false %}{{ {y: 1, []: 1} }}{% set x = {[]: 1} %}{% endif %}ok', 'ok'],
    ['{{ (0)[1:] }}!', '!'],
    ['{% filter upper | reverse %}ab{% endfilter %}', 'BA'],
    ['{{ "😀-ab-²c-😀d" | wordwrap(3) }}', '😀-\nab-\n²c-\n😀d'],
  ])('renders %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });
});
