import {describe, expect, it} from 'vitest';
import {editorOf} from '../../../src/chat/input/editor.ts';
import {CodeColours} from '../../../src/chat/screen/highlight.ts';
import {drawLivePart} from '../../../src/chat/screen/live-part.ts';
import {paintNone} from '../../../src/chat/screen/spans.ts';
import {initialView, type Phase, type ViewState} from '../../../src/chat/state/view-state.ts';

const call = {id: 'c', type: 'function', function: {name: 'get_time', arguments: '{"zone": "UTC"}'}} as const;
const idle: ViewState = {
  ...initialView('1', {reasoning: 'show', raw: false}),
  facts: {modelName: 'a-model', maxModelLen: 8000, readsToolCalls: null},
};
const busy = (phase: Phase): ViewState => ({
  ...idle,
  phase,
  reasoning: 'thinking '.repeat(100),
  answer: {...idle.answer, rest: 'answering\n'.repeat(7), isAfterBlank: true},
  calls: [call],
  activeCall: call,
});
const phases: Phase[] = [
  ...(['idle', 'waiting', 'reasoning', 'answer', 'tool-call', 'tool-approval'] as const),
  ...(['tool-running', 'reconnecting'] as const),
];

function draw(state: ViewState, {rows = 24, width = 79, text = '', isWaiting = false} = {}) {
  const typed = {editor: editorOf(text), label: '> ', hint: 'Say something', isWaiting, purpose: 'message' as const};
  const pen = {width, paint: paintNone, colours: new CodeColours()};
  return drawLivePart(state, typed, {...pen, rows, nowMs: 0, toolsText: null});
}

describe('the live part', () => {
  it.each(phases)('is lower than every window and holds the input, %s', (phase) => {
    for (let rows = 1; rows < 30; rows++) {
      for (const text of ['', 'typed', 'typed\n'.repeat(20)]) {
        const {lines} = draw(busy(phase), {rows, text});
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        if (!text.includes('\n')) expect(lines.join('\n')).toMatch(/^> /m);
      }
    }
  });

  it.each(phases.filter((phase) => phase !== 'idle'))('says what goes on in six rows, too, %s', (phase) => {
    const {lines} = draw(busy(phase), {rows: 6});
    expect(lines.at(-1)).toContain('esc to stop');
    expect(lines.length).toBeGreaterThan(2);
    expect(lines).not.toContain('');
  });

  it('leaves the cursor to the input while nothing moves, and draws one while something does', () => {
    expect(draw(busy('tool-approval'), {text: 'abc'}).cursor?.x).toBe(5);
    expect(draw(idle, {text: 'abc'})).toEqual({lines: ['', '> abc', 'a-model'], cursor: {x: 5, y: 1}});
    const moving = draw(busy('waiting'), {text: '漢字'});
    expect(moving.cursor).toBeNull();
    expect(moving.lines.at(-2)).toBe('> 漢字\u001b[7m \u001b[27m');
    expect(draw(busy('waiting')).lines.at(-2)).toBe('> \u001b[7mS\u001b[27may something');
  });

  it('says what to type while a call waits for a word, and that a message waits', () => {
    expect(draw({...busy('tool-approval'), canAllow: true}).lines.at(-2)).toBe('> y, a, e or n');
    const {lines} = draw(busy('tool-approval'));
    expect(lines[0]).toBe('Run get_time? y once · e edit · n no, with a reason');
    expect(lines.at(-2)).toBe('> y, e or n');
    expect(draw(busy('answer'), {text: 'more', isWaiting: true}).lines.at(-1)).toContain('your message goes next');
  });

  it('goes when another program has the terminal, and at the end', () => {
    expect(draw({...idle, isCovered: true}).lines).toEqual([]);
    expect(draw({...idle, hasQuit: true}).lines).toEqual([]);
  });
});
