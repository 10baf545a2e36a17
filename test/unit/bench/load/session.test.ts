import {expect, it} from 'vitest';
import {runSession, type Session} from '../../../../src/bench/load/session.ts';
import type {PlannedRequest, RequestRecord} from '../../../../src/bench/request-record.ts';
import {answeredRecord, plannedRequest} from '../../../support/bench-records.ts';

const options = {turnDelayMs: 0, keepsReasoning: false};

function talk(...turns: Record<string, unknown>[][]): Session {
  return {offsetSeconds: 0, turns: turns.map((messages, turn) => plannedRequest({body: {messages}, turn}))};
}

/** Answers in order; what was sent is kept. */
function sender(answers: Partial<RequestRecord>[]) {
  const sent: Record<string, unknown>[][] = [];
  const send = async ({body}: PlannedRequest) => {
    sent.push(body.messages as Record<string, unknown>[]);
    return answeredRecord([1, 2], answers[sent.length - 1]);
  };
  return {sent, send};
}

const question = {role: 'user', content: 'Weather?'};
const call = {id: 'call-real', name: 'look', argumentsText: '{}'};
const result = {role: 'tool', tool_call_id: 'recorded', content: 'sunny'};
const running = new AbortController().signal;

it('recorded results of tools answer the calls that were made, under their ids', async () => {
  const {sent, send} = sender([{toolCalls: [call, {...call, id: 'call-two'}]}, {content: 'Sunny.'}]);
  await runSession(talk([question], [result]), 0, send, options, running);
  expect(sent[1].slice(1).map(({role, tool_call_id, content}) => ({role, tool_call_id, content}))).toEqual([
    {role: 'assistant', tool_call_id: undefined, content: ''},
    {role: 'tool', tool_call_id: 'call-real', content: 'sunny'},
    {role: 'tool', tool_call_id: 'call-two', content: 'sunny'},
  ]);
});

it('are left out when the answer called no tool', async () => {
  const {sent, send} = sender([{content: 'No idea.'}, {content: 'Bye.'}]);
  await runSession(talk([question], [result], [{role: 'user', content: 'Thanks'}]), 0, send, options, running);
  expect(sent).toHaveLength(2);
  expect(sent[1].map(({content}) => content)).toEqual(['Weather?', 'No idea.', 'Thanks']);
});

it('reasoning goes back only when asked for', async () => {
  const turns = talk([question], [{role: 'user', content: 'And?'}]);
  const answers = [{content: 'a', reasoning: 'hm'}, {content: 'b'}];
  const [without, kept] = [sender(answers), sender(answers)];
  await runSession(turns, 0, without.send, options, running);
  await runSession(turns, 0, kept.send, {...options, keepsReasoning: true}, running);
  expect(without.sent[1][1]).toEqual({role: 'assistant', content: 'a'});
  expect(kept.sent[1][1]).toEqual({role: 'assistant', content: 'a', reasoning: 'hm'});
});

it('a failed turn ends the conversation, and so does a stop', async () => {
  const turns = talk([question], [question], [question]);
  const failing = sender([{}, {failure: {type: 'truncated', message: 'cut'}}]);
  await runSession(turns, 0, failing.send, options, running);
  expect(failing.sent).toHaveLength(2);
  const stopped = sender([{}, {}, {}]);
  await runSession(turns, 0, stopped.send, options, AbortSignal.abort());
  expect(stopped.sent).toHaveLength(1);
});
