/** Formats with calls in Python syntax: a list of calls, or one call on each line. */

import {pythonCall} from '../argument-readers/python-call.ts';
import type {PythonValueOptions} from '../argument-readers/python-value.ts';
import type {MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';

interface PythonMarkup {
  /** Marker in front of the calls; without one the text must begin with a list. */
  open?: string;
  close?: string;
  /** Calls stand in square brackets. */
  inList: boolean;
  textAfter: 'content' | 'drop';
  /** A list without markers may stand at the beginning, too. */
  bareList?: boolean;
  /** A list that follows the calls and ends in another closing marker repeats them and is dropped. */
  dropsEcho?: boolean;
  /** The markers are single tokens. */
  isSpecial?: boolean;
  values?: PythonValueOptions;
}

function pythonMachine({open, close, inList, textAfter, bareList, dropsEcho, values}: PythonMarkup): MachineDefinition {
  const noCall: Transition = {to: 'content', fails: true};
  const opened: Transition = {to: inList ? 'opened' : 'items', opensCall: true};
  const openers = open === undefined ? {} : {[open]: opened};
  const closers: Record<string, Transition> =
    close === undefined ? {} : {[close]: {to: dropsEcho ? 'closed' : textAfter === 'content' ? 'content' : 'behind'}};
  const list: Record<string, Transition> = bareList === true ? {'[': {to: 'items', opensCall: true}} : {};
  const modes: Record<string, Mode> = {
    beginning: {kind: 'text', as: 'content', on: {...openers, ...list}, otherwise: {to: 'content'}},
    content: {kind: 'text', as: 'content', on: openers},
    opened: {kind: 'text', as: 'nothing', on: {'[': {to: 'items'}, ...closers}, otherwise: noCall},
    items: {
      kind: 'text',
      as: 'nothing',
      on: {',': {}, ';': {}, ...closers, ...(inList ? {']': {to: 'after'}} : {})},
      otherwise: {to: 'call'},
    },
    call: {kind: 'reader', create: pythonCall(values), next: 'between', nextFailed: 'content'},
    between: {
      kind: 'text',
      as: 'nothing',
      on: {',': {to: 'items'}, ';': {to: 'items'}, ...closers, ...(inList ? {']': {to: 'after'}} : {})},
      otherwise: {to: inList ? 'behind' : 'items'},
    },
    after: {
      kind: 'text',
      as: 'nothing',
      on: {...closers, ...openers},
      otherwise: {to: textAfter === 'content' ? 'content' : 'behind'},
    },
    behind: {kind: 'text', as: 'nothing', on: openers},
    ...(dropsEcho === true ? echoModes(openers, Object.keys(closers)) : {}),
  };
  return {start: 'beginning', modes};
}

/** A list behind the calls waits until a closing marker says that it was an echo. */
function echoModes(openers: Readonly<Record<string, Transition>>, closers: readonly string[]): Record<string, Mode> {
  const text: Transition = {to: 'content', shows: 'content'};
  const again = Object.keys(openers).map((open) => [open, {...text, marker: 'reread' as const}]);
  const dropped = closers.map((close) => [close, {to: 'content'}]);
  return {
    closed: {
      kind: 'text',
      as: 'content',
      on: {'[': {to: 'echo', marker: 'reread'}, ...openers},
      otherwise: {to: 'content'},
    },
    echo: {
      kind: 'capture',
      on: Object.fromEntries([...again, ...dropped]),
      tooLong: text,
      atEnd: () => text,
    },
  };
}

type Row = [names: ToolFormat['names'], keepsSpecialTokens: ToolFormat['keepsSpecialTokens'], markup: PythonMarkup];

const rows: readonly Row[] = [
  [['pythonic'], 'no', {inList: true, textAfter: 'drop', bareList: true}],
  [
    ['llama4_pythonic'],
    'no',
    {open: '<|python_start|>', close: '<|python_end|>', inList: true, textAfter: 'drop', bareList: true},
  ],
  [['olmo3'], 'no', {open: '<function_calls>', close: '</function_calls>', inList: false, textAfter: 'drop'}],
  [
    ['lfm2'],
    'with-tools',
    {
      open: '<|tool_call_start|>',
      close: '<|tool_call_end|>',
      inList: true,
      textAfter: 'content',
      isSpecial: true,
      dropsEcho: true,
      values: {keepsInnerQuotes: true},
    },
  ],
];

export const pythonCallFormats: readonly ToolFormat[] = rows.map(([names, keepsSpecialTokens, markup]) => {
  const machine = pythonMachine(markup);
  const expectedTokens = markup.isSpecial === true ? [markup.open ?? '', markup.close ?? ''] : [];
  const fields = {names, keepsSpecialTokens, forcedCalls: 'json', whenNone: 'raw', expectedTokens} as const;
  return {...fields, kind: 'tool', machine: () => machine};
});
