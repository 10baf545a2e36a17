import {describe, expect, it} from 'vitest';
import {doesReflow, LiveFrame, rowsAbove} from '../../../src/chat/screen/live-frame.ts';

const lines = ['x'.repeat(100), '', '> typed', 'status'];

function drawn(columns = 120, cursor: {x: number; y: number} | null = {x: 7, y: 2}) {
  const frame = new LiveFrame(columns);
  frame.commit({lines, cursor});
  frame.drew();
  return frame;
}

describe('LiveFrame', () => {
  it('goes to the first row of what was wrapped, and back to where the cursor was', () => {
    expect(drawn().eraseFor(50)).toBe('\u001b[3A\r\u001b[J\n\n\n\n\u001b[2A');
    expect(drawn().eraseFor(30)).toBe('\u001b[5A\r\u001b[J\n\n\n\n\u001b[2A');
  });

  it('knows that Ink cuts the lines and leaves the cursor below them', () => {
    const frame = drawn();
    frame.eraseFor(50);
    frame.drew();
    expect(frame.eraseFor(25)).toBe('\u001b[5A\r\u001b[J\n\n\n\n');
  });

  it.each([120, 130])('leaves a window of %i columns alone', (columns) => {
    expect(drawn().eraseFor(columns)).toBe('');
  });

  it('leaves alone what was not drawn, and what another program has', () => {
    const frame = new LiveFrame(120);
    frame.commit({lines, cursor: null});
    expect(frame.eraseFor(50)).toBe('');
    const covered = drawn();
    covered.commit(null);
    covered.drew();
    expect(covered.eraseFor(50)).toBe('');
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
