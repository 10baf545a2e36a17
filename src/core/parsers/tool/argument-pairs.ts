/** Formats whose arguments are `<arg_key>K</arg_key><arg_value>V</arg_value>` pairs (GLM, Laguna, Hunyuan 3 and 4). */

import type {CreateReader} from '../argument-reader.ts';
import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';

const KEY = '<arg_key>';
const CALL = '<tool_call>';
const CALL_END = '</tool_call>';

interface PairMarkup {
  /** Around all calls, where a format has such markers. */
  section?: {open: string; close: string};
  /** A suffix that the first marker carries, as in `<tool_calls:abc>`, stands in all others, too. */
  mayHaveSuffix?: boolean;
  /** What ends a name; `<arg_key>` and the end of the call do in any case. */
  nameEnd?: string;
  /** A call of a name that is not among the tools is dropped. */
  dropsUnknown?: boolean;
  /** Values of undeclared parameters are JSON where it parses. */
  undeclared?: 'json';
  /** A value that is not closed is dropped. */
  dropsUnclosed?: boolean;
  unnamedMarkup: 'content' | 'drop';
}

const SUFFIX = /^[\w.-]+$/;
const MAX_SUFFIX = 64;

function pairMachine(markup: PairMarkup, context: ParserContext): MachineDefinition {
  const {section, unnamedMarkup} = markup;
  const opens: Transition = section === undefined ? {to: 'name', opensCall: true} : {to: 'section', opensCall: true};
  const modes: Record<string, Mode> = callModes(markup, context, '');
  const content: Record<string, Transition> = {[section?.open ?? CALL]: opens};
  if (section !== undefined && markup.mayHaveSuffix === true) {
    content[section.open.replace('>', ':')] = {to: 'suffix', opensCall: true};
    modes.suffix = suffixMode((suffix) => Object.assign(modes, callModes(markup, context, suffix)));
  }
  modes.content = {kind: 'text', as: 'content', on: content};
  return {start: 'content', unnamedMarkup, modes};
}

/** Reads the suffix of the first marker; `define` adds the modes of that spelling. */
function suffixMode(define: (suffix: string) => void): Mode {
  const noCall: Transition = {to: 'content', fails: true};
  return {
    kind: 'capture',
    on: {
      '>': (written) => {
        if (!SUFFIX.test(written)) return noCall;
        define(`:${written}`);
        return {to: `section:${written}`};
      },
    },
    maxLength: MAX_SUFFIX,
    tooLong: noCall,
  };
}

/** The modes inside calls, for one spelling of the markers. */
function callModes(markup: PairMarkup, context: ParserContext, suffix: string): Record<string, Mode> {
  const {section, nameEnd} = markup;
  const mark = (marker: string): string => marker.replace('>', `${suffix}>`);
  const mode = (name: string): string => name + suffix;
  const startCall = (name: string): Transition => {
    const isUnknown = markup.dropsUnknown === true && !context.tools.some((tool) => tool.name === name);
    return name === '' || isUnknown ? {to: mode('skipped'), drops: true} : {to: mode('call'), call: {name}};
  };
  const reread = (name: string): Transition => ({...startCall(name), marker: 'reread'});
  const opensCall: Transition = {to: mode('name'), opensCall: true};
  const after = section === undefined ? 'content' : mode('section');
  const name: Mode = {
    kind: 'capture',
    on: {
      ...(nameEnd === undefined ? {} : {[mark(nameEnd)]: startCall}),
      [mark(KEY)]: reread,
      [mark(CALL_END)]: reread,
    },
  };
  return {
    ...(section === undefined ? {} : {[after]: sectionMode(mark(section.close), mark(CALL), opensCall)}),
    [mode('name')]: name,
    [mode('call')]: {kind: 'reader', create: pairReader(markup, mark), next: after},
    [mode('skipped')]: {kind: 'text', as: 'nothing', on: {[mark(CALL_END)]: {to: after}}},
  };
}

function pairReader(markup: PairMarkup, mark: (marker: string) => string): CreateReader {
  return parameterTags({
    keyOpen: mark(KEY),
    keyClose: mark('</arg_key>'),
    valueOpen: mark('<arg_value>'),
    valueClose: mark('</arg_value>'),
    callClose: mark(CALL_END),
    ends: [mark(CALL), ...(markup.section === undefined ? [] : [mark(markup.section.close)])],
    undeclared: markup.undeclared ?? 'text',
    dropsUnclosed: markup.dropsUnclosed === true,
  });
}

function sectionMode(close: string, call: string, opensCall: Transition): Mode {
  return {kind: 'text', as: 'nothing', on: {[call]: opensCall, [close]: {to: 'content'}}};
}

const SECTION = {open: '<tool_calls>', close: '</tool_calls>'};

const SECTION_TOKENS = [SECTION.open, SECTION.close];

type Fields = Omit<ToolFormat, 'kind' | 'machine'>;

const rows: readonly [Fields, PairMarkup][] = [
  [
    {names: ['glm45', 'glm47', 'ling3'], keepsSpecialTokens: 'always', forcedCalls: 'native', whenNone: 'drop-markup'},
    {nameEnd: '\n', dropsUnknown: true, unnamedMarkup: 'drop'},
  ],
  [
    {names: ['poolside_v1'], keepsSpecialTokens: 'with-tools', forcedCalls: 'native', whenNone: 'raw'},
    {nameEnd: '\n', undeclared: 'json', unnamedMarkup: 'content'},
  ],
  [
    {names: ['hy_v3'], keepsSpecialTokens: 'no', forcedCalls: 'json', whenNone: 'raw', expectedTokens: SECTION_TOKENS},
    {section: SECTION, mayHaveSuffix: true, nameEnd: '<tool_sep>', dropsUnclosed: true, unnamedMarkup: 'drop'},
  ],
  [
    {
      names: ['hy_v4'],
      keepsSpecialTokens: 'no',
      forcedCalls: 'native',
      whenNone: 'raw',
      expectedTokens: SECTION_TOKENS,
    },
    {section: SECTION, mayHaveSuffix: true, unnamedMarkup: 'content'},
  ],
];

export const argumentPairFormats: readonly ToolFormat[] = rows.map(([fields, markup]) => ({
  ...fields,
  kind: 'tool',
  machine: (context) => pairMachine(markup, context),
}));
