/** Formats with a JSON array of calls behind one marker (Granite 3, Jamba, Phi-4 mini, xLAM and relatives). */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import type {MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';
import {COMMON_KEYS, type JsonMarkup, jsonArrayMarkup} from './json-markup.ts';

type Fields = Pick<ToolFormat, 'names' | 'keepsSpecialTokens'> &
  Partial<Pick<ToolFormat, 'whenNone' | 'expectedTokens'>>;

function arrayFormat(fields: Fields, markup: JsonMarkup, unnamedMarkup: 'content' | 'drop' = 'content'): ToolFormat {
  const machine = {...jsonArrayMarkup(markup), unnamedMarkup};
  return {kind: 'tool', forcedCalls: 'json', whenNone: 'raw', ...fields, machine: () => machine};
}

/** Hunyuan: calls inside a thought do not count; plain answers may begin with the speaker's name. */
function hunyuan(): MachineDefinition {
  const {modes} = jsonArrayMarkup({
    open: ['<tool_calls>'],
    close: '</tool_calls>',
    textAfter: 'drop',
    contentRules: {'<think>': {to: 'thought', marker: 'keep'}},
  });
  const answer: Transition = {to: 'content', marker: 'reread'};
  return {
    start: 'speaker',
    modes: {
      ...modes,
      speaker: {
        kind: 'text',
        as: 'content',
        on: {'助手：': {to: 'content'}, '<tool_calls>': answer, '<think>': answer},
        otherwise: {to: 'content'},
      },
      thought: {kind: 'text', as: 'content', on: {'</think>': {to: 'content', marker: 'keep'}}},
    },
  };
}

/** xLAM: a bare array at the beginning or behind a thought, or one of several wrappers anywhere. */
function xlam(): MachineDefinition {
  const noCall: Transition = {to: 'content', fails: true};
  const object: Transition = {to: 'call', marker: 'reread'};
  const wrapped: Transition = {to: 'wrapped', opensCall: true};
  const wrappers = {'```json': wrapped, '```': wrapped, '[TOOL_CALLS]': wrapped, '<tool_call>': wrapped};
  const thought: Transition = {to: 'beginning', marker: 'keep'};
  const modes: Record<string, Mode> = {
    beginning: {
      kind: 'text',
      as: 'content',
      on: {...wrappers, '</think>': thought, '[': {to: 'first', opensCall: true}},
      otherwise: {to: 'content'},
    },
    content: {kind: 'text', as: 'content', on: {...wrappers, '</think>': thought}},
    wrapped: {kind: 'text', as: 'nothing', on: {'[': {to: 'first'}}, otherwise: noCall},
    first: {kind: 'text', as: 'nothing', on: {'{': object}, otherwise: noCall},
    call: {
      kind: 'reader',
      create: jsonEnvelope({...COMMON_KEYS, otherKeys: ['type', 'id']}),
      next: 'items',
      nextFailed: 'content',
    },
    items: {kind: 'text', as: 'nothing', on: {'{': object, ']': {to: 'after'}}},
    after: {kind: 'text', as: 'nothing', on: {'```json': wrapped, '[TOOL_CALLS]': wrapped, '<tool_call>': wrapped}},
  };
  return {start: 'beginning', announceWithArguments: true, modes};
}

const hunyuanMachine = hunyuan();
const xlamMachine = xlam();

export const jsonArrayFormats: readonly ToolFormat[] = [
  arrayFormat(
    {names: ['granite'], keepsSpecialTokens: 'always', whenNone: 'drop-markup'},
    {open: ['<|tool_call|>', '<tool_call>'], textAfter: 'content'},
  ),
  arrayFormat(
    {names: ['jamba'], keepsSpecialTokens: 'with-tools', expectedTokens: ['<tool_calls>', '</tool_calls>']},
    {open: ['<tool_calls>'], close: '</tool_calls>', textAfter: 'drop'},
  ),
  arrayFormat(
    {names: ['phi4_mini_json'], keepsSpecialTokens: 'no'},
    {open: ['functools'], textAfter: 'content', wholeCalls: true},
  ),
  arrayFormat(
    {names: ['apertus'], keepsSpecialTokens: 'with-tools'},
    {
      open: ['<|tools_prefix|>'],
      close: '<|tools_suffix|>',
      textAfter: 'content',
      keys: {nameKeys: [], argumentKeys: [], keyIsName: true},
    },
    'drop',
  ),
  {
    kind: 'tool',
    names: ['hunyuan_a13b'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'json',
    whenNone: 'raw',
    machine: () => hunyuanMachine,
  },
  {
    kind: 'tool',
    names: ['xlam'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'json',
    whenNone: 'raw',
    machine: () => xlamMachine,
  },
];
