/** Cohere Command A: thought, action and response each between markers of their own; blanks around them do not count. */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import type {Format, MachineDefinition, MachineParts, Mode, Transition} from '../format.ts';

const ACTION_END = '<|END_ACTION|>';

function sections(parts: MachineParts): Record<string, Transition> {
  return {
    '<|START_THINKING|>': {to: parts.reasoning ? 'reasoning' : 'hidden'},
    '<|START_ACTION|>': parts.tools ? {to: 'items', opensCall: true} : {to: 'hidden'},
    ...Object.fromEntries(
      [
        '<|END_THINKING|>',
        '<|START_RESPONSE|>',
        '<|END_RESPONSE|>',
        '<|START_TEXT|>',
        '<|END_TEXT|>',
        ACTION_END,
        '<|CHATBOT_TOKEN|>',
      ].map((marker) => [marker, {to: 'content'}]),
    ),
  };
}

function cohere(parts: MachineParts): MachineDefinition {
  const on = sections(parts);
  const text = (as: 'content' | 'reasoning' | 'nothing'): Mode => ({
    kind: 'text',
    as,
    on,
    trimStart: true,
    trimEnd: as === 'reasoning',
  });
  return {
    start: 'content',
    unnamedMarkup: 'drop',
    argumentsWhenCut: '',
    modes: {
      content: text('content'),
      reasoning: text('reasoning'),
      hidden: text('nothing'),
      items: {kind: 'text', as: 'nothing', on: {'{': {to: 'call', marker: 'reread'}, [ACTION_END]: {to: 'content'}}},
      call: {
        kind: 'reader',
        create: jsonEnvelope({
          nameKeys: ['tool_name', 'name'],
          argumentKeys: ['parameters', 'arguments'],
          closeMarkers: [ACTION_END],
        }),
        next: 'items',
      },
    },
  };
}

const shared = {
  family: 'cohere',
  machine: (_context: unknown, parts: MachineParts) => cohere(parts),
} as const;

export const cohereFormats: readonly Format[] = (['cohere_command3', 'cohere_command4'] as const).flatMap(
  (name): Format[] => [
    {
      ...shared,
      kind: 'tool',
      names: [name],
      keepsSpecialTokens: 'with-tools',
      forcedCalls: 'native',
      whenNone: 'drop-markup',
    },
    {...shared, kind: 'reasoning', names: [name], keepsSpecialTokens: 'always'},
  ],
);
