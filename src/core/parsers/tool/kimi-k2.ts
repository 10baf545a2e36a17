/** Kimi K2: a section of calls whose header is the id, `functions.NAME:INDEX`, followed by JSON arguments. */

import {jsonObject} from '../argument-readers/json-object.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';

export const KIMI_SECTION = '<|tool_calls_section_begin|>';
const SECTION_END = '<|tool_calls_section_end|>';
const CALL = '<|tool_call_begin|>';
const CALL_END = '<|tool_call_end|>';
const ARGUMENTS = '<|tool_call_argument_begin|>';
/** Anything, a dot, the name, a colon, digits; the first part may be missing. */
const HEADER = /^(?:[^.]*\.)?(.+):\d+$/s;

/** A header without a number makes no call. */
function readHeader(header: string): Transition {
  const name = HEADER.exec(header)?.[1];
  return name === undefined ? {to: 'skipped', drops: true} : {to: 'call', call: {name, id: header}};
}

const kimiK2: MachineDefinition = {
  start: 'content',
  unnamedMarkup: 'drop',
  modes: {
    content: {kind: 'text', as: 'content', on: {[KIMI_SECTION]: {to: 'section', opensCall: true}}},
    section: {
      kind: 'text',
      as: 'nothing',
      on: {[CALL]: {to: 'header', opensCall: true}, [SECTION_END]: {to: 'behind'}},
    },
    header: {
      kind: 'capture',
      on: {[ARGUMENTS]: readHeader, [CALL_END]: {to: 'section', drops: true}},
      atEnd: (header) => (header === '' ? {} : {to: 'behind', call: {name: header}}),
    },
    call: {kind: 'reader', create: jsonObject({closeMarkers: [CALL_END]}), next: 'section'},
    skipped: {kind: 'text', as: 'nothing', on: {[CALL_END]: {to: 'section'}}},
    behind: {kind: 'text', as: 'nothing', on: {[KIMI_SECTION]: {to: 'section'}}},
  },
};

export const kimiK2Formats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['kimi_k2'],
    keepsSpecialTokens: 'with-tools',
    forcedCalls: 'native',
    whenNone: 'drop-markup',
    ids: 'kimi',
    machine: () => kimiK2,
  },
];
