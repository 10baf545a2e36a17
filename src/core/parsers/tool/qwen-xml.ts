/** Formats of the Qwen3-Coder family: `<function=N>` with `<parameter=K>V</parameter>` inside a marker of the model. */

import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';

const FUNCTION = '<function=';

interface QwenXml {
  open: string;
  close: string;
  /** One line feed around a value is markup; otherwise the value is as written. */
  trimsLineFeeds: boolean;
}

function qwenMachine({open, close, trimsLineFeeds}: QwenXml): MachineDefinition {
  const endsName =
    (to: string) =>
    (name: string): Transition =>
      name === '' ? {to, fails: true} : {to, call: {name}};
  return {
    start: 'content',
    unnamedMarkup: 'drop',
    modes: {
      content: {
        kind: 'text',
        as: 'content',
        on: {[open]: {to: 'section', opensCall: true}, [FUNCTION]: {to: 'name', opensCall: true}},
      },
      section: {kind: 'text', as: 'nothing', on: {[FUNCTION]: {to: 'name', opensCall: true}, [close]: {to: 'content'}}},
      name: {
        kind: 'capture',
        on: {
          '>': endsName('call'),
          [FUNCTION]: endsName('name'),
          [open]: endsName('section'),
          [close]: endsName('content'),
        },
      },
      call: {
        kind: 'reader',
        create: parameterTags({
          keyOpen: '<parameter=',
          keyClose: '>',
          valueClose: '</parameter>',
          callClose: '</function>',
          ends: [FUNCTION, open, close],
          ...(trimsLineFeeds ? {trims: 'line-feeds' as const} : {}),
        }),
        next: 'section',
      },
    },
  };
}

type Row = [names: ToolFormat['names'], markup: QwenXml, forcedCalls: ToolFormat['forcedCalls']];

const TOOL_CALL = {open: '<tool_call>', close: '</tool_call>'};

const rows: readonly Row[] = [
  [['qwen3_coder', 'qwen3_xml'], {...TOOL_CALL, trimsLineFeeds: true}, 'native'],
  [['step3p5'], {...TOOL_CALL, trimsLineFeeds: true}, 'native'],
  [['step5'], {...TOOL_CALL, trimsLineFeeds: true}, 'native'],
  [['mimo'], {...TOOL_CALL, trimsLineFeeds: false}, 'native'],
  [['seed_oss'], {open: '<seed:tool_call>', close: '</seed:tool_call>', trimsLineFeeds: true}, 'json'],
];

export const qwenXmlFormats: readonly ToolFormat[] = rows.map(([names, markup, forcedCalls]) => {
  const machine = qwenMachine(markup);
  return {
    kind: 'tool',
    names,
    keepsSpecialTokens: 'always',
    forcedCalls,
    whenNone: 'drop-markup',
    machine: () => machine,
  };
});
