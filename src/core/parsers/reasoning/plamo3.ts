/** PLaMo 3 thoughts: markers of several tokens; answers begin in the thought unless it is switched off or closed. */

import type {MachineDefinition, ReasoningFormat} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {PLAMO_REQUESTS, PLAMO_THINK, PLAMO_THINK_END} from '../tool/plamo3.ts';
import {promptState} from './prompt-state.ts';

function plamoThoughts(context: ParserContext): MachineDefinition {
  return {
    start: startMode(context),
    modes: {
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        on: {
          [PLAMO_THINK]: {},
          [PLAMO_THINK_END]: {to: 'content'},
          [PLAMO_REQUESTS]: {to: 'content', marker: 'reread'},
        },
      },
      content: {kind: 'text', as: 'content'},
    },
  };
}

function startMode({chatTemplateKwargs, promptTail}: ParserContext): string {
  if (chatTemplateKwargs.enable_thinking === false) return 'content';
  return promptState(promptTail, {open: PLAMO_THINK, close: PLAMO_THINK_END}) ?? 'reasoning';
}

export const plamo3ReasoningFormats: readonly ReasoningFormat[] = [
  {kind: 'reasoning', names: ['plamo3'], keepsSpecialTokens: 'always', machine: plamoThoughts},
];
