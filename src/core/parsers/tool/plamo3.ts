/** PLaMo 3: every slot of a call has markers of the shape `<|plamo:X:plamo|>`. */

import {jsonObject} from '../argument-readers/json-object.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';

const plamoMarker = (name: string) => `<|plamo:${name}:plamo|>`;

export const PLAMO_REQUESTS = plamoMarker('begin_tool_requests');
export const PLAMO_THINK = plamoMarker('begin_think');
export const PLAMO_THINK_END = plamoMarker('end_think');

const startCall = (name: string): Transition => ({to: 'call', call: {name}});

const plamo3: MachineDefinition = {
  start: 'content',
  unnamedMarkup: 'drop',
  modes: {
    content: {kind: 'text', as: 'content', on: {[PLAMO_REQUESTS]: {to: 'section', opensCall: true}}},
    section: {
      kind: 'text',
      as: 'nothing',
      on: {
        [plamoMarker('begin_tool_name')]: {to: 'name', opensCall: true},
        [plamoMarker('end_tool_requests')]: {to: 'content'},
      },
    },
    name: {
      kind: 'capture',
      on: {[plamoMarker('end_tool_name')]: startCall},
      atEnd: (name) => (name === '' ? {} : {...startCall(name), to: 'section'}),
    },
    call: {
      kind: 'reader',
      create: jsonObject({closeMarkers: [plamoMarker('end_tool_arguments')], skipsToBrace: true}),
      next: 'section',
    },
  },
};

export const plamo3Formats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['plamo3'],
    keepsSpecialTokens: 'always',
    forcedCalls: 'native',
    whenNone: 'drop-markup',
    machine: () => plamo3,
  },
];
