import {describe, expect, it} from 'vitest';
import {doesReflow, LiveTerminal, liveMark, rowsAbove} from '../../../src/chat/screen/live-terminal.ts';

const lines = ['x'.repeat(100), '', '> typed', 'status'];
const hide = '\u001b[?25l';
const show = '\u001b[?25h';
const gone = '\r\u001b[K\u001b[C\u001b[J\r';
const shown = `${hide}\n\n\n\u001b[3A\u001b[?7l${lines.join('\r\u001b[B')}\u001b[?7h`;

/** As Ink uses it, with what arrives at the terminal. */
function open({reflows = true} = {}) {
  const written: string[] = [];
  const output = {columns: 120, write: (text: string) => written.push(text) > 0, on: () => {}, off: () => {}};
  const terminal = new LiveTerminal(output as unknown as NodeJS.WriteStream, {reflows});
  return {
    terminal,
    draws(cursor: {x: number; y: number} | null, frame = lines) {
      terminal.commit({lines: frame, cursor});
      terminal.write(`\u001b[2K\u001b[1A${liveMark}whatever Ink made of it\n`);
    },
    /** @returns what was written since the last call */
    written: () => written.splice(0).join('|'),
    narrow: (columns: number) => (output.columns = columns),
  };
}

describe('LiveTerminal', () => {
  it('leaves the cursor in the input while nothing moves', () => {
    const {draws, written} = open();
    draws({x: 7, y: 2});
    expect(written()).toBe(`${shown}\r\u001b[1A\u001b[7C${show}`);
  });

  it('rests at the first row while something moves, and needs no number to erase', () => {
    const {draws, written, narrow} = open();
    draws(null);
    expect(written()).toBe(`${shown}\r\u001b[3A`);
    narrow(30);
    draws(null);
    expect(written()).toBe(`${gone}${shown}\r\u001b[3A`);
  });

  it.each([
    {reflows: true, rows: 5},
    {reflows: false, rows: 2},
  ])('goes up the rows that a narrower window has made of the lines, reflows: $reflows', ({reflows, rows}) => {
    const {draws, written, narrow} = open({reflows});
    draws({x: 7, y: 2});
    written();
    narrow(30);
    draws(null);
    expect(written()).toBe(`\u001b[${rows}A${gone}${shown}\r\u001b[3A`);
  });

  it('writes an update at once: old lines away, finished text, new lines', () => {
    const {terminal, draws, written} = open();
    draws(null);
    written();
    terminal.write('\u001b[?2026h');
    terminal.write('\u001b[2K\u001b[1A\u001b[2K\u001b[G');
    terminal.write('finished text\n');
    draws(null);
    expect(written()).toBe('');
    terminal.write('\u001b[?2026l');
    expect(written()).toBe(`\u001b[?2026h${gone}${show}finished text\n${shown}\r\u001b[3A\u001b[?2026l`);
  });

  it('moves the cursor when only that has changed', () => {
    const {terminal, draws, written} = open();
    draws({x: 7, y: 2});
    written();
    terminal.commit({lines, cursor: {x: 2, y: 2}});
    terminal.write(`${hide}\u001b[1B\u001b[1G\u001b[2A\u001b[3G${show}`);
    expect(written()).toBe(`\u001b[2A${gone}${shown}\r\u001b[1A\u001b[2C${show}`);
  });

  it('goes without a trace at the end', () => {
    const {terminal, draws, written} = open();
    draws(null);
    written();
    terminal.commit({lines: [], cursor: null});
    terminal.write('\u001b[2K\u001b[1A\u001b[G\n');
    expect(written()).toBe(`${gone}${show}`);
    terminal.write(show);
    expect(written()).toBe(show);
  });

  it('stands at the top after a clear', () => {
    const {terminal, draws, written} = open();
    draws(null);
    written();
    terminal.clear();
    expect(written()).toBe(`${gone}\u001b[H\u001b[J${shown}\r\u001b[3A`);
  });
});

it.each([
  {line: 'x'.repeat(10), x: 10, columns: 10, rows: 0},
  {line: 'x'.repeat(10), x: 10, columns: 5, rows: 1},
  {line: '漢字漢字', x: 8, columns: 5, rows: 1},
  {line: '漢字漢字', x: 8, columns: 3, rows: 3},
  {line: '\u001b[36mxxxx\u001b[39m', x: 4, columns: 4, rows: 0},
])('counts the rows above the cursor in $line, $columns columns', ({line, x, columns, rows}) => {
  expect(rowsAbove({lines: [line], cursor: {x, y: 0}}, columns)).toBe(rows);
});

it.each([
  {env: {TMUX: '/tmp/tmux,1,0', TERM: 'screen-256color'}, reflows: true},
  {env: {TERM: 'xterm-kitty'}, reflows: true},
  {env: {TERM: 'xterm-256color'}, reflows: false},
  {env: {VTE_VERSION: '7600', STY: '1.screen', TERM: 'screen'}, reflows: false},
  {env: {VTE_VERSION: '7600', XTERM_VERSION: 'XTerm(390)'}, reflows: false},
])('takes $env for a terminal that reflows: $reflows', ({env, reflows}) => {
  expect(doesReflow(env)).toBe(reflows);
});
