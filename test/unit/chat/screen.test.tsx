import {render} from 'ink-testing-library';
import {describe, expect, it, vi} from 'vitest';
import type {TalkMessage} from '../../../src/chat/conversation/messages.ts';
import type {Approval} from '../../../src/chat/conversation/run-turn.ts';
import {InputHistory} from '../../../src/chat/input/history.ts';
import {type InputActions, InputModel} from '../../../src/chat/input/input-model.ts';
import {ChatScreen} from '../../../src/chat/screen/chat-screen.tsx';
import {CodeColours} from '../../../src/chat/screen/highlight.ts';
import {paintNone} from '../../../src/chat/screen/spans.ts';
import {ScreenStore} from '../../../src/chat/state/screen-store.ts';
import {initialView, type ViewEvent} from '../../../src/chat/state/view-state.ts';

const stats = {
  promptTokens: 100,
  completionTokens: 20,
  timeToFirstTokenMs: 310,
  tokensPerSecond: 42.1,
  tokensPerSecondOverall: 40,
  totalMs: 700,
  reasoningMs: 0,
  reasoningPieces: 0,
};

function open(reasoning: 'show' | 'fold' | 'hide' = 'fold', size = {columns: 100, rows: 24}) {
  const store = new ScreenStore(initialView('1.0.0', {reasoning, raw: false}));
  const input = new InputModel(new InputHistory(null, ['first apple', 'pear', 'second apple', 'pear']));
  const done: {submitted: string[]; stops: number; approvals: Approval[]; quits: number; isBusy: boolean} = {
    submitted: [],
    stops: 0,
    approvals: [],
    quits: 0,
    isBusy: false,
  };
  const actions: InputActions = {
    submit: (text) => done.submitted.push(text),
    isBusy: () => done.isBusy,
    stop: () => done.stops++,
    approve: (approval) => done.approvals.push(approval),
    showThought: () => store.tell({type: 'show-thought'}),
    showLastCall() {},
    clearScreen() {},
    editOutside: async (text) => `${text} edited`,
    showInPager() {},
    quit: () => done.quits++,
  };
  const screen = render(
    <ChatScreen
      {...{store, input, actions}}
      paint={paintNone}
      colours={new CodeColours()}
      toolsText={() => null}
      terminal={{commit() {}}}
      windowSize={() => size}
    />,
  );
  const frame = () => screen.lastFrame() ?? '';
  const tell = (...events: ViewEvent[]) => {
    for (const event of events) store.tell(event);
    store.flush();
  };
  const shows = (part: string) => vi.waitFor(() => expect(frame()).toContain(part));
  const type = async (keys: string) => {
    screen.stdin.write(keys);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {frame, tell, shows, type, done, input, actions};
}

const question: ViewEvent = {type: 'question', text: 'why?'};
const round: ViewEvent = {type: 'round-start', round: 1};
const answerEnd: ViewEvent = {
  type: 'answer-end',
  message: {role: 'assistant', content: ''},
  finishReason: 'stop',
  stats,
};
const call = {id: 'c', type: 'function', function: {name: 'get_time', arguments: '{"a":1}'}} as const;

describe('the screen', () => {
  it('goes from waiting to an answer to the numbers of it', async () => {
    const {tell, shows} = open();
    await shows('connecting');
    tell({type: 'facts', facts: {modelName: 'm', maxModelLen: 8000, readsToolCalls: null}}, question, round);
    await shows('waiting for the first token');
    tell({type: 'text-delta', text: '# Title\n\nfirst **bold** par'});
    await shows('first bold par');
    tell({type: 'text-delta', text: 'agraph'}, answerEnd, {type: 'turn-end', outcome: 'done', error: null});
    await shows('m · ctx 120/8k (2 %) · 20 tokens · 42.1 tok/s · TTFT 310 ms');
    await shows('first bold paragraph');
  });

  it('folds a thought to one line, and shows it when asked', async () => {
    const {tell, shows, frame, type} = open();
    tell(question, round, {type: 'reasoning-delta', text: 'deep thinking'});
    await shows('thinks');
    tell({type: 'text-delta', text: 'answer'});
    await shows('ctrl-t shows');
    expect(frame()).not.toContain('│ deep thinking');
    await type('\u0014');
    await shows('│ deep thinking');
  });

  it('shows thoughts while they come when told to', async () => {
    const {tell, shows} = open('show');
    tell(question, round, {type: 'reasoning-delta', text: 'deep thinking'});
    await shows('│ deep thinking');
  });

  it('shows a call, asks for it and shows its result', async () => {
    const {tell, shows, type, done} = open();
    tell(question, round, {type: 'tool-call-start', index: 0, id: 'c', name: 'get_time'});
    tell({type: 'tool-call-delta', index: 0, argumentsText: '{"a":'});
    await shows('get_time {"a":');
    tell(
      {...answerEnd, message: {role: 'assistant', content: '', tool_calls: [call]}},
      {type: 'approval-asked', call, canAllow: true},
    );
    await shows('Run get_time? y once');
    await type('y');
    expect(done.approvals).toEqual([{type: 'once'}]);
    tell({type: 'tool-start', call});
    await shows('get_time runs');
    tell({type: 'tool-end', call, result: {text: 'noon\u001b[2J', isError: false}});
    await shows('⎿ noon␛[2J');
  });

  it('asks why not', async () => {
    const {tell, shows, type, done} = open();
    tell(question, {type: 'approval-asked', call, canAllow: true});
    await shows('Run get_time?');
    await type('n');
    await type('because');
    await type('\r');
    expect(done.approvals).toEqual([{type: 'no', reason: 'because'}]);
  });

  it('says errors and what was stopped', async () => {
    const {tell, shows} = open();
    tell(question, {type: 'turn-end', outcome: 'error', error: new Error('bad thing')});
    await shows('bad thing');
    tell(question, {type: 'turn-end', outcome: 'stopped', error: null});
    await shows('(stopped)');
  });

  it.each([
    {
      name: 'an answer that was cut',
      end: {...answerEnd, finishReason: 'length', message: {role: 'assistant', content: 'half'}},
      note: '(cut: the limit of tokens is reached; /continue goes on)',
    },
    {
      name: 'a call that was cut',
      end: {...answerEnd, finishReason: 'length', message: {role: 'assistant', content: '', tool_calls: [call]}},
      note: '(cut in a call: the limit of tokens is reached)',
    },
    {
      name: 'a thought without an answer',
      end: {...answerEnd, message: {role: 'assistant', content: '', reasoning: 'hm'}},
      note: '(no answer, only a thought; ctrl-t shows it)',
    },
    {
      name: 'an answer of nothing',
      end: {...answerEnd, message: {role: 'assistant', content: ''}},
      note: '(an empty answer)',
    },
  ] as {name: string; end: ViewEvent; note: string}[])('says what is missing in $name', async ({end, note}) => {
    const {tell, shows} = open();
    tell(question, round, end, {type: 'turn-end', outcome: 'done', error: null});
    await shows(note);
  });

  it('shows where a stored talk was, and how much came before', async () => {
    const {tell, shows, frame} = open();
    const messages = ['a', 'b', 'c', 'd'].flatMap((content): TalkMessage[] => [
      {role: 'user', content: `${content}?`},
      {role: 'assistant', content: '', tool_calls: [call]},
      {role: 'tool', tool_call_id: 'c', content: 'hidden'},
      {role: 'assistant', content: `${content}!`},
    ]);
    tell({type: 'talk-changed', messages});
    await shows('(6 earlier messages; /export writes them all)');
    await shows('> d?');
    await shows('d!');
    expect(frame()).not.toMatch(/hidden|c!/);
  });

  it('says that there is no model yet, until there is one', async () => {
    const {tell, shows, frame} = open();
    tell({type: 'unreachable', message: 'Nothing answers there.'});
    await shows('no model yet');
    tell({type: 'facts', facts: {modelName: 'm', maxModelLen: null, readsToolCalls: null}});
    await vi.waitFor(() => expect(frame()).not.toContain('no model yet'));
  });

  it('shows how far the loading is, in its own place and where an answer is waited for', async () => {
    const {tell, shows, frame} = open();
    tell({type: 'loading', text: 'weights 42 %'});
    await shows('weights 42 %');
    tell(question, round);
    await vi.waitFor(() => expect(frame()).toMatch(/^.?[⠋-⠿] weights 42 %/m));
  });

  it('shows no speed for an answer of a few tokens at once', async () => {
    const {tell, shows, frame} = open();
    tell(question, round, {type: 'text-delta', text: 'yes'}, {...answerEnd, stats: {...stats, tokensPerSecond: null}});
    tell({type: 'turn-end', outcome: 'done', error: null});
    await shows('20 tokens · TTFT 310 ms');
    expect(frame()).not.toContain('tok/s');
  });

  it('sends a paste of many lines whole, and nothing before Enter', async () => {
    const {shows, type, done} = open();
    const lines = Array.from({length: 500}, (_, index) => `line ${index}`);
    await type(`\u001b[200~${lines.join('\r')}\u001b[201~`);
    await shows('[pasted 500 lines]');
    expect(done.submitted).toEqual([]);
    await type('\r');
    expect(done.submitted).toEqual([lines.join('\n')]);
    await type(`\u001b[200~${'漢字 '.repeat(1000)}\u001b[201~ tail`);
    await shows('[pasted 3000 characters] tail');
    await type('\r');
    expect(done.submitted[1]).toBe(`${'漢字 '.repeat(1000)} tail`);
  });

  it('stops with Escape and Ctrl-C, and leaves at the second Ctrl-C', async () => {
    const {tell, type, shows, done} = open();
    tell(question);
    await shows('esc to stop');
    await type('\u0003');
    expect(done.stops).toBe(1);
    tell({type: 'turn-end', outcome: 'stopped', error: null});
    await shows('(stopped)');
    await type('text');
    await type('\u0003');
    await type('\u0003');
    await shows('Ctrl-C again to leave');
    expect(done.quits).toBe(0);
    await type('\u0003');
    expect(done.quits).toBe(1);
  });

  it('sends what was typed during an answer when that has ended, unless it was stopped', async () => {
    const {tell, type, shows, done, input, actions} = open();
    done.isBusy = true;
    tell(question, round);
    await shows('waiting for the first token');
    await type('and then?');
    await type('\r');
    await shows('your message goes next');
    expect(done.submitted).toEqual([]);
    input.noteIdle(actions);
    expect(done.submitted).toEqual(['and then?']);
    tell(question, round);
    await shows('waiting for the first token');
    await type('no');
    await type('\r');
    await shows('your message goes next');
    await type('\u001b');
    input.noteIdle(actions);
    tell({type: 'turn-end', outcome: 'stopped', error: null});
    await shows('(stopped)');
    await shows('> no');
    expect(done.submitted).toEqual(['and then?']);
  });

  it('sends one of two messages that come at once, and keeps the other', async () => {
    const {input, actions, shows, done} = open();
    await shows('Say something');
    actions.submit = (text) => {
      done.isBusy = true;
      done.submitted.push(text);
    };
    input.readChunk('first\rsecond\r', initialView('1', {reasoning: 'fold', raw: false}), actions);
    expect(done.submitted).toEqual(['first']);
    await shows('> second');
  });

  it('throws nothing away that is being typed', async () => {
    const {input, type, shows} = open();
    await shows('Say something');
    await type('typed');
    input.setText('taken back');
    await shows('> typed');
    await type('\u0015');
    input.setText('taken back');
    await shows('> taken back');
  });

  it('searches earlier inputs, from the newest to older ones', async () => {
    const {type, shows, frame, done} = open();
    await type('draft');
    await type('\u0012');
    await type('appl');
    await shows('(search "appl") second apple');
    await type('\u0012');
    await shows('(search "appl") first apple');
    await type('\u0012');
    await shows('(nothing with "appl") first apple');
    await type('\u001b');
    await shows('> draft');
    await type('\u0012');
    await type('pear');
    await shows('(search "pear") pear');
    await type('\r');
    await shows('> pear');
    expect(frame()).not.toContain('search');
    expect(done.submitted).toEqual([]);
  });

  it('opens the editor with Ctrl-X Ctrl-E and with Ctrl-G', async () => {
    const {type, shows} = open();
    await type('text');
    await type('\u0018\u0005');
    await shows('> text edited');
    await type('\u0007');
    await shows('> text edited edited');
  });

  it('keeps what a person needs in a narrow line', async () => {
    const {tell, shows, frame} = open('fold', {columns: 30, rows: 24});
    tell({type: 'facts', facts: {modelName: 'a-model', maxModelLen: 8000, readsToolCalls: null}}, question, round);
    await shows('a-model · esc to stop');
    expect(frame()).not.toContain('tools');
  });
});
