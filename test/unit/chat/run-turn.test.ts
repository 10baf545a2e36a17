import {describe, expect, it} from 'vitest';
import {ConnectionLostError} from '../../../src/chat/backend/backend.ts';
import type {TalkMessage} from '../../../src/chat/conversation/messages.ts';
import {type Approval, runTurn, type TurnEvent} from '../../../src/chat/conversation/run-turn.ts';
import {settingsFromOptions} from '../../../src/chat/conversation/settings.ts';
import {chatOptionsSchema} from '../../../src/chat/options.ts';
import {builtInTool} from '../../../src/chat/tools/built-in-tools.ts';
import {ToolBox} from '../../../src/chat/tools/tool-box.ts';
import {call, finish, ScriptedBackend, text, thought} from '../../support/scripted-backend.ts';

const settings = settingsFromOptions(chatOptionsSchema.parse({}), null);

interface TurnSetup {
  approval?: Approval;
  maxRounds?: number;
  retries?: number;
  signal?: AbortSignal;
  fields?: Record<string, unknown>;
}

async function play(backend: ScriptedBackend, setup: TurnSetup = {}) {
  const talk: TalkMessage[] = [{role: 'user', content: 'question'}];
  const tools = new ToolBox(builtInTool('calculator'), {approval: 'ask', allowsChanges: false, folder: '.'});
  const {approval = {type: 'once'}, maxRounds = 3, retries = 0, signal = new AbortController().signal} = setup;
  const events: TurnEvent[] = [];
  const {fields = {}} = setup;
  const parts = {
    backend,
    settings: {...settings, fields},
    tools,
    maxRounds,
    retries,
    signal,
    approve: async () => approval,
  };
  for await (const event of runTurn(talk, parts)) events.push(event);
  return {talk, events, end: events.at(-1)};
}

const calculatorCall = [...call('calculator', '{"expression":"2*(3+4)"}'), finish('tool_calls')];

describe('runTurn', () => {
  it('folds an answer to one message', async () => {
    const {talk, end} = await play(new ScriptedBackend([thought('hm '), text('Hel'), text('lo'), finish()]));
    expect(talk.at(-1)).toEqual({role: 'assistant', content: 'Hello', reasoning: 'hm '});
    expect(end).toMatchObject({type: 'turn-end', outcome: 'done'});
  });

  it('runs a tool and sends its result back with the thought before it', async () => {
    const backend = new ScriptedBackend([thought('use it'), ...calculatorCall], [text('14'), finish()]);
    const {talk} = await play(backend);
    expect(talk.map(({role}) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(backend.requests[1]!.messages.at(-1)).toEqual({role: 'tool', tool_call_id: 'call_1', content: '14'});
    expect(backend.requests[1]!.messages.at(-2)).toMatchObject({reasoning: 'use it'});
  });

  it('tells the model that the person refused', async () => {
    const backend = new ScriptedBackend(calculatorCall, [text('ok'), finish()]);
    const {talk} = await play(backend, {approval: {type: 'no', reason: 'too hard'}});
    expect(talk[2]).toMatchObject({role: 'tool', content: 'The person refused this call: too hard'});
  });

  it('runs a call with edited arguments', async () => {
    const backend = new ScriptedBackend(calculatorCall, [text('ok'), finish()]);
    const {talk} = await play(backend, {approval: {type: 'edit', argumentsText: '{"expression":"1+1"}'}});
    expect(talk[2]).toMatchObject({content: '2'});
  });

  it.each([
    ['{"expression":', /no JSON/],
    ['{}', /expression/],
    ['[1]', /must be a JSON object/],
  ])('gives the fault of arguments %s to the model without asking', async (argumentsText, fault) => {
    const backend = new ScriptedBackend([...call('calculator', argumentsText), finish('tool_calls')], [finish()]);
    const {talk} = await play(backend);
    expect((talk[2] as {content: string}).content).toMatch(fault);
  });

  it('demands a call only once', async () => {
    const backend = new ScriptedBackend(calculatorCall, [text('14'), finish()]);
    await play(backend, {fields: {tool_choice: 'required'}});
    expect(backend.requests.map(({tool_choice}) => tool_choice)).toEqual(['required', 'auto']);
  });

  it('ends after the allowed rounds', async () => {
    const {end} = await play(new ScriptedBackend(calculatorCall, calculatorCall, calculatorCall), {maxRounds: 2});
    expect(end).toMatchObject({outcome: 'too-many-rounds'});
  });

  it('keeps what came before a stop', async () => {
    const stopping = new AbortController();
    const backend = new ScriptedBackend([text('half'), 'wait']);
    setTimeout(() => stopping.abort(), 10);
    const {talk, end} = await play(backend, {signal: stopping.signal});
    expect(talk.at(-1)).toEqual({role: 'assistant', content: 'half'});
    expect(end).toMatchObject({outcome: 'stopped'});
  });

  it('keeps what came before an error, and says it', async () => {
    const {talk, end} = await play(new ScriptedBackend([text('half'), new Error('boom')]));
    expect(talk.at(-1)).toMatchObject({content: 'half'});
    expect(end).toMatchObject({outcome: 'error', error: {message: 'boom'}});
  });

  it('tries a lost connection again, but never half an answer', async () => {
    const lost = new ConnectionLostError('gone');
    const again = await play(new ScriptedBackend([lost], [text('here'), finish()]), {retries: 2});
    expect(again.events.map(({type}) => type)).toContain('retry');
    expect(again.talk.at(-1)).toMatchObject({content: 'here'});
    const half = await play(new ScriptedBackend([text('half'), lost]), {retries: 2});
    expect(half.end).toMatchObject({outcome: 'error'});
  });
});
