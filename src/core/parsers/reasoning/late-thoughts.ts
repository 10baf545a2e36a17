/**
 * Formats whose answer begins as content, or where the first characters must decide: tags with several spellings, answer
 * tags, phrases, and the MiniMax form that hands thoughts on inside the content.
 */

import type {MachineDefinition, MachineParts, Mode, ReasoningFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {promptState, type ThoughtMarkers} from './prompt-state.ts';

/** Longest beginning of an answer that waits for a marker, in characters. */
const MAX_UNDECIDED = 256;

/**
 * The first text is a thought when the closing tag comes without an opening one; it is content when something else
 * decides or it grows too long to wait.
 */
export function undecided(openers: readonly string[], closers: readonly string[], calls: readonly string[]): Mode {
  const answer: Transition = {to: 'content', shows: 'content'};
  return {
    kind: 'capture',
    on: {
      ...onAll(openers, {to: 'reasoning', shows: 'content'}),
      ...onAll(closers, {to: 'content', shows: 'reasoning'}),
      ...onAll(calls, {...answer, marker: 'reread'}),
    },
    maxLength: MAX_UNDECIDED,
    tooLong: answer,
    atEnd: () => answer,
  };
}

export function onAll(markers: readonly string[], transition: Transition): Record<string, Transition> {
  return Object.fromEntries(markers.map((marker) => [marker, transition]));
}

const HORIZON_TAGS = ['think', 'think_fast', 'think_faster'];
const horizonOpeners = HORIZON_TAGS.map((tag) => `<ifm|${tag}>`);
const horizonClosers = HORIZON_TAGS.map((tag) => `</ifm|${tag}>`);
const HORIZON_CALLS = '<ifm|tool_calls>';

function horizon(context: ParserContext): MachineDefinition {
  return {
    start: firstState(context, horizonOpeners, horizonClosers) ?? 'undecided',
    modes: {
      undecided: undecided(horizonOpeners, horizonClosers, [HORIZON_CALLS]),
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        on: {
          ...onAll(horizonOpeners, {}),
          ...onAll(horizonClosers, {to: 'content'}),
          [HORIZON_CALLS]: {to: 'content', marker: 'reread'},
        },
      },
      content: {kind: 'text', as: 'content'},
    },
  };
}

/** What the prompt says, looking at every spelling of the tags. */
export function firstState(
  context: ParserContext,
  openers: readonly string[],
  closers: readonly string[],
): string | undefined {
  const states = openers.map((open, index) => promptState(context.promptTail, {open, close: closers[index] ?? ''}));
  return states.find((state) => state !== undefined);
}

const MINIMAX_M3: ThoughtMarkers = {open: '<mm:think>', close: '</mm:think>'};

function minimaxM3(context: ParserContext): MachineDefinition {
  const isEnabled = context.chatTemplateKwargs.thinking_mode === 'enabled';
  return {
    start: promptState(context.promptTail, MINIMAX_M3) ?? (isEnabled ? 'reasoning' : 'beginning'),
    modes: {
      beginning: {
        kind: 'text',
        as: 'content',
        on: {[MINIMAX_M3.open]: {to: 'reasoning'}},
        otherwise: {to: 'content'},
      },
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        on: {[MINIMAX_M3.open]: {}, [MINIMAX_M3.close]: {to: 'content'}},
      },
      content: {kind: 'text', as: 'content'},
    },
  };
}

const GEMMA: ThoughtMarkers = {open: '<|channel>', close: '<channel|>'};

function gemma4(context: ParserContext): MachineDefinition {
  const thought: Transition = {to: 'reasoning'};
  return {
    start: promptState(context.promptTail, GEMMA) ?? 'content',
    modes: {
      content: {
        kind: 'text',
        as: 'content',
        on: {'<|channel>thought\n': thought, '<|channel>': thought, '<channel|>': {}},
      },
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        on: {
          '<channel|>': {to: 'content'},
          '<|channel>thought\n': {},
          '<|tool_call>': {to: 'content', marker: 'reread'},
        },
      },
    },
  };
}

const PHRASE_OPENERS = ['Here is my thought process:', "Here's my thought process:"];
const PHRASE_CLOSERS = ['Here is my response:', "Here's my response:"];

const granitePhrases: MachineDefinition = {
  start: 'beginning',
  modes: {
    beginning: {kind: 'text', as: 'content', on: onAll(PHRASE_OPENERS, {to: 'reasoning'}), otherwise: {to: 'content'}},
    reasoning: {kind: 'text', as: 'reasoning', on: onAll(PHRASE_CLOSERS, {to: 'content'})},
    content: {kind: 'text', as: 'content'},
  },
};

const HUNYUAN: ThoughtMarkers = {open: '<think>', close: '</think>'};
const ANSWER = '<answer>';

function hunyuan(context: ParserContext): MachineDefinition {
  const answer: Transition = {to: 'answer'};
  return {
    start: promptState(context.promptTail, HUNYUAN) ?? 'beginning',
    modes: {
      beginning: {
        kind: 'text',
        as: 'content',
        on: {[HUNYUAN.open]: {to: 'reasoning'}, [ANSWER]: answer},
        otherwise: {to: 'content'},
      },
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        trimStart: true,
        trimEnd: true,
        on: {[HUNYUAN.open]: {}, [HUNYUAN.close]: {to: 'content'}},
      },
      content: {kind: 'text', as: 'content', on: {[ANSWER]: answer}},
      answer: {kind: 'text', as: 'content', trimStart: true, trimEnd: true, on: {'</answer>': {}}},
    },
  };
}

/** The thought stays in the content behind an opening tag; where calls are read, its closing tag is markup. */
function appendedThought(_context: ParserContext, parts: MachineParts): MachineDefinition {
  return {
    start: 'beginning',
    modes: {
      beginning: {kind: 'text', as: 'nothing', otherwise: {to: 'content', inserts: '<think>'}, otherwiseAtBlanks: true},
      content: {kind: 'text', as: 'content', on: parts.tools ? {'</think>': {}} : {}},
    },
  };
}

interface Row {
  name: string;
  keepsSpecialTokens: ReasoningFormat['keepsSpecialTokens'];
  leavesForbiddenCalls: boolean;
  machine: ReasoningFormat['machine'];
}

const rows: readonly Row[] = [
  {name: 'k2_horizon', keepsSpecialTokens: 'always', leavesForbiddenCalls: true, machine: horizon},
  {name: 'minimax_m3', keepsSpecialTokens: 'no', leavesForbiddenCalls: true, machine: minimaxM3},
  {name: 'gemma4', keepsSpecialTokens: 'always', leavesForbiddenCalls: false, machine: gemma4},
  {name: 'granite', keepsSpecialTokens: 'no', leavesForbiddenCalls: true, machine: () => granitePhrases},
  {name: 'hunyuan_a13b', keepsSpecialTokens: 'no', leavesForbiddenCalls: true, machine: hunyuan},
  {
    name: 'minimax_m2_append_think',
    keepsSpecialTokens: 'no',
    leavesForbiddenCalls: true,
    machine: appendedThought,
  },
];

export const lateThoughtFormats: readonly ReasoningFormat[] = rows.map(({name, ...fields}) => ({
  kind: 'reasoning',
  names: [name],
  ...fields,
}));
