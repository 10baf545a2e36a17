import {describe, expect, it} from 'vitest';
import {CodeColours} from '../../../src/chat/screen/highlight.ts';
import {drawMarkdown} from '../../../src/chat/screen/markdown.ts';
import {createPaint, paintNone, textWidth} from '../../../src/chat/screen/spans.ts';

const colours = new CodeColours();
const draw = (text: string, width = 60) => drawMarkdown(text, {width, paint: paintNone, colours});

const table = `| Name | Meaning | Number |
| --- | --- | ---: |
| alpha | the first letter of the Greek alphabet, 漢字 too | 1 |
| beta | **second** | 22 |`;

describe('tables', () => {
  it('have columns as wide as their cells, numbers on the right', () => {
    expect(draw(table)).toEqual([
      'Name  │ Meaning                                     │ Number',
      '──────┼─────────────────────────────────────────────┼───────',
      'alpha │ the first letter of the Greek alphabet,     │      1',
      '      │ 漢字 too                                    │',
      '──────┼─────────────────────────────────────────────┼───────',
      'beta  │ second                                      │     22',
    ]);
  });

  it('become lines with names where the columns do not fit', () => {
    expect(draw(table, 20).slice(-3)).toEqual(['Name: beta', 'Meaning: second', 'Number: 22']);
  });
});

const everything = `# A title 漢字漢字漢字漢字漢字漢字

- a list item that is long enough to be wrapped 😀😀😀😀😀😀😀😀😀
  1. nested 👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧 and more
     > quoted deep inside of it, with words

${table}

\`\`\`js
const averyveryverylongname = "text with many words" + anotherlongname;
\`\`\`

averyveryveryveryveryverylongwordwithoutanyspaceinit ${'é'.repeat(40)}`;

it.each([10, 15, 23, 40, 79])('no line is wider than %i columns', (width) => {
  for (const line of draw(everything, width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
});

it('shows tasks with their boxes', () => {
  expect(draw('- [x] done\n- [ ] open')).toEqual(['☑ done', '☐ open']);
});

describe('code', () => {
  const code = 'const text = "a &amp; <b>"; // why\n/* two\nlines */ f(`x`);';

  it('keeps every character, whatever its colours', async () => {
    const loaded = new CodeColours();
    await loaded.load();
    for (const language of ['js', 'python', 'html', 'json', 'bash', 'nothing']) {
      const spans = loaded.spans(code, {language, before: ''});
      expect(spans.map(({text}) => text).join('')).toBe(code);
    }
  });

  it('knows that a line is within a comment', async () => {
    const loaded = new CodeColours();
    await loaded.load();
    expect(loaded.spans('return', {language: 'js', before: '/* open\n'})).toEqual([{text: 'return', styles: ['dim']}]);
    expect(loaded.spans('return', {language: 'js', before: 'f();\n'})).toEqual([{text: 'return', styles: ['keyword']}]);
  });

  it('lets no escape through', async () => {
    const loaded = new CodeColours();
    await loaded.load();
    const lines = drawMarkdown('```js\n"\u001b[2J"\n```', {width: 40, paint: createPaint('dark'), colours: loaded});
    expect(lines.join('')).not.toContain('\u001b[2J');
  });
});

it('reads common entities, but not in code', () => {
  expect(draw('a &amp; b &lt;i&gt; &foo; `&amp;`')).toEqual(['a & b <i> &foo; &amp;']);
});
