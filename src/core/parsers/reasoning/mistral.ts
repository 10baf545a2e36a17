/**
 * Mistral thoughts: `[THINK]..[/THINK]`, older checkpoints `<think>..</think>`. Answers begin in content; a lone closing
 * marker says that the text before it was a thought, so the first characters wait until that is decided.
 */

import type {MachineDefinition, ReasoningFormat} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {MISTRAL_CALLS} from '../tool/mistral.ts';
import {firstState, onAll, undecided} from './late-thoughts.ts';

const OPENERS = ['[THINK]', '<think>'];
const CLOSERS = ['[/THINK]', '</think>'];

function mistralThoughts(context: ParserContext): MachineDefinition {
  return {
    start: firstState(context, OPENERS, CLOSERS) ?? 'undecided',
    modes: {
      undecided: undecided(OPENERS, CLOSERS, [MISTRAL_CALLS]),
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        trimEnd: true,
        on: {
          ...onAll(OPENERS, {}),
          ...onAll(CLOSERS, {to: 'content'}),
          [MISTRAL_CALLS]: {to: 'content', marker: 'reread'},
        },
      },
      content: {kind: 'text', as: 'content', on: onAll(OPENERS, {to: 'reasoning'})},
    },
  };
}

export const mistralReasoningFormats: readonly ReasoningFormat[] = [
  {kind: 'reasoning', names: ['mistral'], keepsSpecialTokens: 'always', machine: mistralThoughts},
];
