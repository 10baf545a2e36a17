/** Formats whose arguments are `<arg_key>K</arg_key><arg_value>V</arg_value>` pairs (GLM, Laguna, Hunyuan 3 and 4). */

import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';

const KEY = '<arg_key>';
const CALL = '<tool_call>';
const CALL_END = '</tool_call>';

interface PairMarkup {
  /** Around all calls, where a format has such markers. */
  section?: {open: string; close: string};
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

function pairMachine(markup: PairMarkup, context: ParserContext): MachineDefinition {
  const {section, nameEnd, unnamedMarkup} = markup;
  const startCall = (name: string): Transition => {
    if (name === '') return {to: 'skipped', drops: true};
    const isUnknown = !context.tools.some((tool) => tool.name === name);
    return markup.dropsUnknown && isUnknown ? {to: 'skipped', drops: true} : {to: 'call', call: {name}};
  };
  const reread = (name: string): Transition => ({...startCall(name), marker: 'reread'});
  const opensCall: Transition = {to: 'name', opensCall: true};
  const after = section === undefined ? 'content' : 'section';
  return {
    start: 'content',
    unnamedMarkup,
    modes: {
      content: {
        kind: 'text',
        as: 'content',
        on: section === undefined ? {[CALL]: opensCall} : {[section.open]: {to: 'section', opensCall: true}},
      },
      ...(section === undefined ? {} : {section: sectionMode(section.close, opensCall)}),
      name: {
        kind: 'capture',
        on: {...(nameEnd === undefined ? {} : {[nameEnd]: startCall}), [KEY]: reread, [CALL_END]: reread},
      },
      call: {
        kind: 'reader',
        create: parameterTags({
          keyOpen: KEY,
          keyClose: '</arg_key>',
          valueOpen: '<arg_value>',
          valueClose: '</arg_value>',
          callClose: CALL_END,
          ends: [CALL, ...(section === undefined ? [] : [section.close])],
          undeclared: markup.undeclared ?? 'text',
          dropsUnclosed: markup.dropsUnclosed === true,
        }),
        next: after,
      },
      skipped: {kind: 'text', as: 'nothing', on: {[CALL_END]: {to: after}}},
    },
  };
}

function sectionMode(close: string, opensCall: Transition): Mode {
  return {kind: 'text', as: 'nothing', on: {[CALL]: opensCall, [close]: {to: 'content'}}};
}

const SECTION = {open: '<tool_calls>', close: '</tool_calls>'};

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
    {names: ['hy_v3'], keepsSpecialTokens: 'no', forcedCalls: 'json', whenNone: 'raw'},
    {section: SECTION, nameEnd: '<tool_sep>', dropsUnclosed: true, unnamedMarkup: 'drop'},
  ],
  [
    {names: ['hy_v4'], keepsSpecialTokens: 'no', forcedCalls: 'native', whenNone: 'raw'},
    {section: SECTION, unnamedMarkup: 'content'},
  ],
];

export const argumentPairFormats: readonly ToolFormat[] = rows.map(([fields, markup]) => ({
  ...fields,
  kind: 'tool',
  machine: (context) => pairMachine(markup, context),
}));
