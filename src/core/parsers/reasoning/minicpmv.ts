/**
 * MiniCPM-V: thoughts in tags, and an answer in which a literal `\n` stands for a line feed, except in code, inline code
 * and LaTeX.
 */

import type {MachineDefinition, Mode, ReasoningFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {promptState, type ThoughtMarkers} from './prompt-state.ts';
import {enableThinking} from './thinking-switch.ts';

const TAGS: ThoughtMarkers = {open: '<think>', close: '</think>'};

/** Stretches that keep a literal `\n`: opener and closer. */
const VERBATIM: readonly (readonly [string, string])[] = [
  ['```', '```'],
  ['`', '`'],
  ['$$', '$$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
];

const verbatimModes: Record<string, Mode> = Object.fromEntries(
  VERBATIM.map(([open, close]) => [
    `inside ${open}`,
    {kind: 'text', as: 'content', on: {[close]: {to: 'content', marker: 'keep'}}},
  ]),
);

const content: Mode = {
  kind: 'text',
  as: 'content',
  on: {
    '\\n': {inserts: '\n'},
    ...Object.fromEntries(
      VERBATIM.map(([open]): [string, Transition] => [open, {to: `inside ${open}`, marker: 'keep'}]),
    ),
  },
};

function minicpmv({chatTemplateKwargs, promptTail}: ParserContext): MachineDefinition {
  const isOn = enableThinking(chatTemplateKwargs);
  return {
    start: isOn ? (promptState(promptTail, TAGS) ?? 'reasoning') : 'content',
    modes: {
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        on: {[TAGS.open]: {}, [TAGS.close]: {to: 'content'}, '<tool_call>': {to: 'content', marker: 'reread'}},
      },
      content,
      ...verbatimModes,
    },
  };
}

export const minicpmvFormats: readonly ReasoningFormat[] = [
  {kind: 'reasoning', names: ['minicpmv'], keepsSpecialTokens: 'always', machine: minicpmv},
];
