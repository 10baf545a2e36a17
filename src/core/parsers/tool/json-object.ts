/** Formats with one JSON object per call between markers (Hermes, Qwen, Llama and relatives). */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import type {MachineDefinition, ToolFormat} from '../format.ts';
import {COMMON_KEYS, type JsonMarkup, jsonObjectMarkup} from './json-markup.ts';

const PYTHON_TAG = '<|python_tag|>';
const GIGACHAT_MESSAGE = '<|message_sep|>\n\nfunction call<|role_sep|>';

/** Llama writes bare objects, several of them joined by semicolons; text with other objects in it is no call. */
const llamaObjects: MachineDefinition = {
  start: 'content',
  announceWithArguments: true,
  modes: {
    content: {
      kind: 'text',
      as: 'content',
      on: {
        '{': {to: 'call', marker: 'reread', opensCall: true},
        [PYTHON_TAG]: {to: 'tagged', opensCall: true},
      },
    },
    tagged: {
      kind: 'text',
      as: 'nothing',
      on: {'{': {to: 'call', marker: 'reread'}},
      otherwise: {to: 'content', fails: true},
    },
    call: {
      kind: 'reader',
      create: jsonEnvelope({...COMMON_KEYS, otherKeys: ['type', 'id']}),
      next: 'after',
      nextFailed: 'content',
    },
    after: {kind: 'text', as: 'nothing', on: {'{': {to: 'call', marker: 'reread'}}},
  },
};

type Fields = Pick<ToolFormat, 'names' | 'keepsSpecialTokens' | 'forcedCalls'>;

function objectFormat(fields: Fields, markup: JsonMarkup): ToolFormat {
  const machine = jsonObjectMarkup(markup);
  return {kind: 'tool', whenNone: 'raw', ...fields, machine: () => machine};
}

export const jsonObjectFormats: readonly ToolFormat[] = [
  objectFormat(
    {names: ['hermes', 'qwen3_json'], keepsSpecialTokens: 'with-tools', forcedCalls: 'native'},
    {open: ['<tool_call>'], close: '</tool_call>', textAfter: 'drop'},
  ),
  objectFormat(
    {names: ['longcat'], keepsSpecialTokens: 'with-tools', forcedCalls: 'native'},
    {open: ['<longcat_tool_call>'], close: '</longcat_tool_call>', textAfter: 'drop'},
  ),
  objectFormat(
    {names: ['granite4'], keepsSpecialTokens: 'with-tools', forcedCalls: 'json'},
    {open: ['<tool_call>'], close: '</tool_call>', textAfter: 'content'},
  ),
  objectFormat(
    {names: ['ernie45'], keepsSpecialTokens: 'no', forcedCalls: 'json'},
    {
      open: ['<tool_call>'],
      close: '</tool_call>',
      textAfter: 'drop',
      contentRules: {'<response>': {}, '</response>': {}},
    },
  ),
  objectFormat(
    {names: ['granite-20b-fc'], keepsSpecialTokens: 'no', forcedCalls: 'json'},
    {open: ['<function_call>'], textAfter: 'drop'},
  ),
  objectFormat(
    {names: ['internlm'], keepsSpecialTokens: 'with-tools', forcedCalls: 'json'},
    {open: ['<|action_start|><|plugin|>'], close: '<|action_end|>', textAfter: 'drop', onlyOneCall: true},
  ),
  objectFormat(
    {names: ['gigachat3'], keepsSpecialTokens: 'with-tools', forcedCalls: 'json'},
    {
      open: [GIGACHAT_MESSAGE, '<|function_call|>'],
      textAfter: 'drop',
      onlyOneCall: true,
      contentRules: {'</s>': {}},
    },
  ),
  {
    kind: 'tool',
    names: ['llama3_json', 'llama4_json'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'native',
    whenNone: 'raw',
    expectedTokens: [PYTHON_TAG],
    machine: () => llamaObjects,
  },
];
