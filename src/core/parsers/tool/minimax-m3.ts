/** MiniMax M3: every tag has a prefix of its own; parameters are elements named after their keys, and nest. */

import {nestedElements} from '../argument-readers/nested-elements.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';

const PREFIX = ']<]minimax[>[';
const OPEN = `${PREFIX}<tool_call>`;
const opens: Transition = {to: 'section', opensCall: true};

function startCall(written: string): Transition {
  const name = written.replace(/^(["'])(.*)\1$/s, '$2').trim();
  return name === '' ? {to: 'section', drops: true} : {to: 'call', call: {name}};
}

const minimaxM3: MachineDefinition = {
  start: 'content',
  unnamedMarkup: 'drop',
  modes: {
    content: {kind: 'text', as: 'content', on: {[OPEN]: opens}},
    section: {
      kind: 'text',
      as: 'nothing',
      on: {[`${PREFIX}<invoke name=`]: {to: 'name', opensCall: true}, [`${PREFIX}</tool_call>`]: {to: 'behind'}},
    },
    name: {kind: 'capture', on: {'>': startCall}},
    call: {kind: 'reader', create: nestedElements({prefix: PREFIX, call: 'invoke', item: 'item'}), next: 'section'},
    behind: {kind: 'text', as: 'nothing', on: {[OPEN]: opens}},
  },
};

export const minimaxM3Formats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['minimax_m3'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'native',
    whenNone: 'drop-markup',
    machine: () => minimaxM3,
  },
];
