/**
 * MiniCPM 5: `<function name="N"><param name="K">V</param></function>`. A name that is not declared is no call; parameters
 * that are not declared are left out, and of one that is given twice the first counts.
 */

import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';

const FUNCTION = '<function name=';
const FUNCTION_END = '</function>';

const unquote = (written: string) => written.trim().replace(/^(["'])(.*)\1$/s, '$2');

function minicpm5(context: ParserContext): MachineDefinition {
  const opens: Transition = {to: 'name', opensCall: true};
  const startCall = (written: string): Transition => {
    const name = unquote(written);
    return context.tools.some((tool) => tool.name === name) ? {to: 'call', call: {name}} : {to: 'content', fails: true};
  };
  return {
    start: 'content',
    modes: {
      content: {kind: 'text', as: 'content', on: {[FUNCTION]: opens}},
      name: {kind: 'capture', on: {'>': startCall, [FUNCTION_END]: {to: 'content', fails: true}}},
      call: {
        kind: 'reader',
        create: parameterTags({
          keyOpen: '<param name=',
          keyClose: '>',
          valueClose: '</param>',
          callClose: FUNCTION_END,
          ends: [FUNCTION],
          mayBeQuoted: true,
          onlyDeclared: true,
          readKey: (written) => ({key: unquote(written)}),
        }),
        next: 'content',
      },
    },
  };
}

export const minicpm5Formats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['minicpm5'],
    keepsSpecialTokens: 'with-tools',
    forcedCalls: 'json',
    whenNone: 'raw',
    machine: minicpm5,
  },
];
