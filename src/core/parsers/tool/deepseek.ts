/** DeepSeek V3 and V3.1: a section of calls, each with its name and JSON arguments in slots of their own. */

import {jsonObject} from '../argument-readers/json-object.ts';
import type {CaptureMode, MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';

const SECTION = '<｜tool▁calls▁begin｜>';
const SECTION_END = '<｜tool▁calls▁end｜>';
const CALL = '<｜tool▁call▁begin｜>';
const CALL_END = '<｜tool▁call▁end｜>';
const SEPARATOR = '<｜tool▁sep｜>';
const TOKENS = [SECTION, SECTION_END, CALL, CALL_END];
const FENCE = '\n```json';

const startCall = (name: string): Transition => ({to: 'call', call: {name}});

/** @param slots modes from `header` to the call; @param closeMarkers what ends the arguments */
function deepseekMachine(slots: Readonly<Record<string, Mode>>, closeMarkers: readonly string[]): MachineDefinition {
  const call: Transition = {to: 'header', opensCall: true};
  return {
    start: 'content',
    unnamedMarkup: 'drop',
    modes: {
      content: {kind: 'text', as: 'content', on: {[SECTION]: {to: 'section', opensCall: true}}},
      section: {kind: 'text', as: 'nothing', on: {[CALL]: call, [SECTION_END]: {to: 'content'}}},
      ...slots,
      call: {kind: 'reader', create: jsonObject({closeMarkers}), next: 'section'},
    },
  };
}

const nameInFront: CaptureMode = {kind: 'capture', on: {[SEPARATOR]: startCall}};

/** The type of the call (always `function`) comes first, arguments stand in a fenced block. */
const deepseekV3 = deepseekMachine(
  {
    header: {kind: 'capture', on: {[SEPARATOR]: {to: 'name'}}},
    name: {kind: 'capture', on: {[FENCE]: startCall, '\n': startCall}},
  },
  [`\n\`\`\`${CALL_END}`, CALL_END],
);

const deepseekV31 = deepseekMachine({header: nameInFront}, [CALL_END]);

export const deepseekFormats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['deepseek_v3'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'native',
    whenNone: 'raw',
    expectedTokens: TOKENS,
    machine: () => deepseekV3,
  },
  {
    kind: 'tool',
    names: ['deepseek_v31'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'native',
    whenNone: 'raw',
    expectedTokens: TOKENS,
    machine: () => deepseekV31,
  },
];
