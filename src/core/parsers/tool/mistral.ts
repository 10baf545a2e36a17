/**
 * Mistral: `[TOOL_CALLS]` and then either a name with JSON arguments (tokenizers from v11 on) or an array of objects
 * (before). What follows the marker tells which.
 */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import {jsonObject} from '../argument-readers/json-object.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';
import {COMMON_KEYS} from './json-markup.ts';

export const MISTRAL_CALLS = '[TOOL_CALLS]';
const ARGUMENTS = '[ARGS]';
/** Some tokenizers write an id of their own between name and arguments. */
const CALL_ID = '[CALL_ID]';
const closeMarkers = [MISTRAL_CALLS];

const opens: Transition = {to: 'opened', opensCall: true};
const object: Transition = {to: 'object', marker: 'reread'};

function startCall(header: string): Transition {
  const [name = ''] = header.split(CALL_ID);
  return {to: 'call', call: {name: name.trim()}};
}

const mistral: MachineDefinition = {
  start: 'content',
  modes: {
    content: {kind: 'text', as: 'content', on: {[MISTRAL_CALLS]: opens}},
    opened: {kind: 'text', as: 'nothing', on: {'[': {to: 'items'}, '{': object}, otherwise: {to: 'header'}},
    header: {
      kind: 'capture',
      on: {
        [ARGUMENTS]: startCall,
        '{': (header) => ({...startCall(header), marker: 'reread'}),
        [MISTRAL_CALLS]: {to: 'opened', fails: true, opensCall: true},
      },
      atEnd: (header) => (header === '' ? {} : {...startCall(header), to: 'behind'}),
    },
    call: {kind: 'reader', create: jsonObject({closeMarkers}), next: 'behind'},
    items: {kind: 'text', as: 'nothing', on: {'{': object, ']': {to: 'behind'}, [MISTRAL_CALLS]: opens}},
    object: {
      kind: 'reader',
      create: jsonEnvelope({...COMMON_KEYS, closeMarkers}),
      next: 'items',
      nextFailed: 'content',
    },
    behind: {kind: 'text', as: 'nothing', on: {[MISTRAL_CALLS]: opens}},
  },
};

export const mistralFormats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['mistral'],
    keepsSpecialTokens: 'always',
    forcedCalls: 'native',
    whenNone: 'drop-markup',
    ids: 'mistral',
    expectedTokens: [MISTRAL_CALLS],
    machine: () => mistral,
  },
];
