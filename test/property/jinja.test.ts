/**
 * Templates that nobody sane would write: random ones, and ones made to hurt. They end in a text or in a TemplateError,
 * and they end soon.
 */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {TemplateError} from '../../src/core/errors.ts';
import {compileChatTemplate} from '../../src/core/renderer/chat-template.ts';

const variables = {
  messages: [
    {role: 'user', content: 'Hi'},
    {role: 'assistant', content: ['a', 1, 2.5, null]},
  ],
  tools: {a: {b: [1, {c: 'd'}]}},
  n: null,
  t: true,
  s: 'grüße 😀',
  i: 3,
};

/** Text, or the error. Small limits keep the random ones quick. */
function outcome(source: string): string | TemplateError {
  try {
    return compileChatTemplate(source).render(variables, {limits: {maxSteps: 100_000, timeoutMs: 5000}});
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

const atoms = ['messages', 'tools', 'n', 't', 's', 'i', 'undef', '1', '2.5', "'x'", '[]', '{}', '()', 'none', 'true'];
const operators = ['+', '-', '*', '/', '//', '%', '**', '~', '==', '<', 'in', 'not in', 'and', 'or'];
const filters = ['trim', 'length', 'list', 'first', 'tojson', 'upper', 'sort', 'join', 'items', 'map("upper")'];
filters.push('select', 'batch(2)', 'default(1)', 'replace("i", "j")', 'dictsort', 'int', 'float', 'round', 'reverse');
const tests = ['defined', 'string', 'mapping', 'none', 'odd', 'divisibleby 2', 'in messages', 'sameas n', 'iterable'];
const suffixes = ['.role', '["a"]', '[0]', '[1:]', '[::-1]', '()', '.items()', '.get("a")', '.split("i")', '.x.y'];

const expression = fc.letrec<{any: string}>((tie) => {
  const any = tie('any');
  return {
    any: fc.oneof(
      {depthSize: 'small', withCrossShrink: true},
      fc.constantFrom(...atoms),
      fc
        .tuple(any, fc.constantFrom(...operators), any)
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc.tuple(any, fc.constantFrom(...filters)).map(([operand, filter]) => `(${operand})|${filter}`),
      fc.tuple(any, fc.constantFrom(...tests)).map(([operand, test]) => `((${operand}) is ${test})`),
      fc.tuple(any, fc.constantFrom(...suffixes)).map(([operand, suffix]) => `(${operand})${suffix}`),
      fc.tuple(any, any, any).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
      fc.tuple(any, any).map(([a, b]) => `[${a}, {${b}: ${a}}]`),
    ),
  };
}).any;

const statement = fc.letrec<{any: string}>((tie) => {
  const body = fc.array(tie('any'), {maxLength: 3}).map((parts) => parts.join(''));
  return {
    any: fc.oneof(
      {depthSize: 'small'},
      fc.constantFrom('text ', '\n', '{# c #}', '{% break %}', '{% continue %}', '{{ loop.index }}', '{{ m(x) }}'),
      expression.map((value) => `{{ ${value} }}`),
      expression.map((value) => `{% set x = ${value} %}`),
      fc.tuple(expression, body).map(([test, inner]) => `{% if ${test} %}${inner}{% else %}x{% endif %}`),
      fc.tuple(expression, body).map(([items, inner]) => `{% for x in ${items} %}${inner}{% endfor %}`),
      body.map((inner) => `{% macro m(a, b=1) %}${inner}{{ a }}{{ caller }}{% endmacro %}`),
      body.map((inner) => `{% set x %}${inner}{% endset %}`),
      body.map((inner) => `{% call m(1) %}${inner}{% endcall %}`),
      body.map((inner) => `{%- filter upper -%}${inner}{%- endfilter -%}`),
      fc.tuple(expression, body).map(([value, inner]) => `{% with y = ${value} %}${inner}{{ y }}{% endwith %}`),
    ),
  };
}).any;

describe('random templates', () => {
  it('give a text or a TemplateError', () => {
    fc.assert(
      fc.property(fc.array(statement, {maxLength: 6}), (parts) => {
        outcome(parts.join(''));
      }),
      {numRuns: 1500},
    );
  });

  it('may be cut or broken anywhere', () => {
    const pieces = [
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      '-',
      '"',
      "'",
      '|',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '.',
      ' for ',
      '\\',
    ];
    const piece = fc.oneof(
      fc.constantFrom(...pieces),
      fc.constantFrom(...atoms),
      fc.string({maxLength: 4, unit: 'binary'}),
    );
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 25}), (parts) => {
        outcome(parts.join(''));
      }),
      {numRuns: 1500},
    );
  });

  it('show the place of every error in the template', () => {
    fc.assert(
      fc.property(fc.array(statement, {maxLength: 4}), (parts) => {
        const source = parts.join('');
        const result = outcome(source);
        if (typeof result === 'string') return;
        const lines = source.split('\n');
        expect(result.line).toBeGreaterThanOrEqual(1);
        expect(result.line).toBeLessThanOrEqual(lines.length);
        expect(result.column).toBeLessThanOrEqual((lines[result.line! - 1] ?? '').length + 1);
        expect(result.codeFrame).toMatch(/\^$/);
      }),
      {numRuns: 300},
    );
  });
});

/** A value that is put into itself again and again. */
function nested(next: string, use: string, times = 99): string {
  return `{% set ns = namespace(l=[1]) %}{% for i in range(${times}) %}{% set ns.l = ${next} %}{% endfor %}${use}`;
}

const hostile: Record<string, string> = {
  'a macro that calls itself': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  'macros that call each other':
    '{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}',
  'a recursive loop without end': '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}',
  'a block that calls itself': '{% block a %}{{ self.a() }}{% endblock %}',
  'a huge string': "{{ 'x' * 10 ** 12 }}",
  'a huge list': '{{ [0] * 10 ** 9 }}',
  'a huge integer': '{{ 9 ** (9 ** 9) }}',
  'a string that doubles':
    "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
  'a list that doubles':
    '{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}',
  'a huge range': '{{ range(10 ** 9)|list }}',
  'nested ranges': '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
  'nested filtered ranges': '{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}',
  'a list of lists that doubles': nested('[ns.l, ns.l]', '{{ ns.l }}'),
  'lists that double, compared': nested('[ns.l, ns.l]', '{{ [ns.l] == [ns.l[0]] }}'),
  'dicts that double, as JSON': nested('{1: ns.l, 2: ns.l}', '{{ ns.l|tojson }}'),
  'tuples that double, as keys': nested('(ns.l, ns.l)', '{{ {ns.l: 1} }}'),
  'lists that double by a filter': nested('(ns.l|batch(2)|list) * 2', '{{ ns.l }}'),
  'a list inside a list inside a list': nested('[ns.l]', '{{ ns.l|tojson }}', 99_999),
  'generators over generators': nested("ns.l|map('string')", '{{ ns.l|list }}', 99_999),
  'long searches': '{% set l = range(99999)|list %}{% for i in range(99999) %}{% if -1 in l %}{% endif %}{% endfor %}',
  'a wide batch': "{{ [1]|batch(10 ** 9, 'x')|list }}",
  'many slices': '{{ [1]|slice(10 ** 9)|list }}',
  'much output': `{% for a in range(99999) %}{{ '${'x'.repeat(1000)}' }}{% endfor %}`,
  'many brackets': `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`,
  'many lists': `{{ ${'['.repeat(100_000)} }}`,
  'many signs': `{{ ${'-'.repeat(50_000)}1 }}`,
  'many negations': `{{ ${'not '.repeat(50_000)}1 }}`,
  'many additions': `{{ 1${'+1'.repeat(50_000)} }}`,
  'many filters': `{{ 's'${'|upper'.repeat(50_000)} }}`,
  'many subscripts': `{{ s${'[0]'.repeat(50_000)} }}`,
  'many conditions': `{{ 1${' if 1 else 1'.repeat(20_000)} }}`,
  'many blocks': '{% if 1 %}'.repeat(20_000),
  'a long integer': `{{ ${'9'.repeat(100_000)} }}`,
  'a wide format': "{{ '%1000000000d' % 1 }}",
  'a wide brace format': "{{ '{:1000000000}'.format(1) }}",
  'wide padding': "{{ 'x'.center(10 ** 10) }}",
  'wide indents': "{{ {'a': 1}|tojson(indent=10 ** 10) }}",
};

describe('hostile templates', () => {
  it.each(Object.entries(hostile))('%s ends with a TemplateError', (_name, source) => {
    const started = performance.now();
    expect(() => compileChatTemplate(source).render(variables)).toThrow(TemplateError);
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('stops when its time is over', () => {
    const template = compileChatTemplate(
      '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
    );
    const limits = {timeoutMs: 30, maxSteps: Number.MAX_SAFE_INTEGER};
    expect(() => template.render({}, {limits})).toThrow('Chat template rendering timed out after 0.0s.');
  });
});
