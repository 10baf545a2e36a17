/**
 * Inkling: messages of typed blocks. Text between the opener of a message and its block is a header and not shown. One
 * machine for thoughts, text and calls.
 */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import type {Format, MachineDefinition, MachineParts, Transition} from '../format.ts';

const MESSAGE = '<|message_model|>';
const MESSAGE_END = '<|end_message|>';

/** Blocks that may begin anywhere outside a call. */
function blocks(parts: MachineParts): Record<string, Transition> {
  return {
    '<|content_thinking|>': {to: parts.reasoning ? 'reasoning' : 'hidden'},
    '<|content_text|>': {to: 'content'},
    '<|content_invoke_tool_json|>': parts.tools ? {to: 'opened', opensCall: true} : {to: 'hidden'},
    '<|content_invoke_tool_text|>': {to: 'hidden'},
    '<|content_tool_error|>': {to: 'hidden'},
    '<|content_model_end_sampling|>': {to: 'header'},
    [MESSAGE]: {to: 'header'},
    [MESSAGE_END]: {to: 'content'},
  };
}

function inkling(parts: MachineParts): MachineDefinition {
  const on = blocks(parts);
  return {
    start: 'content',
    unnamedMarkup: 'drop',
    modes: {
      content: {kind: 'text', as: 'content', on},
      header: {kind: 'text', as: 'nothing', on},
      hidden: {kind: 'text', as: 'nothing', on},
      reasoning: {kind: 'text', as: 'reasoning', on, trimEnd: true},
      opened: {
        kind: 'text',
        as: 'nothing',
        on: {'{': {to: 'call', marker: 'reread'}, ...on},
        otherwise: {to: 'hidden'},
      },
      call: {
        kind: 'reader',
        create: jsonEnvelope({nameKeys: ['name'], argumentKeys: ['args', 'arguments'], closeMarkers: [MESSAGE_END]}),
        next: 'content',
        nextFailed: 'hidden',
      },
    },
  };
}

const shared = {
  names: ['inkling'],
  keepsSpecialTokens: 'always',
  family: 'inkling',
  machine: (_context: unknown, parts: MachineParts) => inkling(parts),
} as const;

export const inklingFormats: readonly Format[] = [
  {...shared, kind: 'tool', forcedCalls: 'native', whenNone: 'drop-markup'},
  {...shared, kind: 'reasoning'},
];
