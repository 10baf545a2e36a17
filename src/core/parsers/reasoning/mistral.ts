/**
 * Mistral thoughts: `[THINK]..[/THINK]`, older checkpoints `<think>..</think>`. Answers begin in content; a lone closing
 * marker says that the text before it was a thought, so the first characters wait until that is decided.
 */

import type {MachineDefinition, ReasoningFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {MISTRAL_CALLS} from '../tool/mistral.ts';
import {promptState} from './prompt-state.ts';

const OPENERS = ['[THINK]', '<think>'];
const CLOSERS = ['[/THINK]', '</think>'];
/** Longest beginning of an answer that waits, in characters. */
const MAX_UNDECIDED = 256;

function onAll(markers: readonly string[], transition: Transition): Record<string, Transition> {
  return Object.fromEntries(markers.map((marker) => [marker, transition]));
}

function mistralThoughts(context: ParserContext): MachineDefinition {
  const answer: Transition = {to: 'content', shows: 'content'};
  return {
    start: startMode(context),
    modes: {
      undecided: {
        kind: 'capture',
        on: {
          ...onAll(OPENERS, {to: 'reasoning', shows: 'content'}),
          ...onAll(CLOSERS, {to: 'content', shows: 'reasoning'}),
          [MISTRAL_CALLS]: {...answer, marker: 'reread'},
        },
        maxLength: MAX_UNDECIDED,
        tooLong: answer,
        atEnd: () => answer,
      },
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

function startMode({promptTail}: ParserContext): string {
  const states = OPENERS.map((open, index) =>
    promptState(promptTail, {open, close: CLOSERS[index] ?? '', turns: ['[/INST]']}),
  );
  return states.find((state) => state !== undefined) ?? 'undecided';
}

export const mistralReasoningFormats: readonly ReasoningFormat[] = [
  {kind: 'reasoning', names: ['mistral'], keepsSpecialTokens: 'always', machine: mistralThoughts},
];
