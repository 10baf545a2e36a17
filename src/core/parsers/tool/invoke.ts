/** Formats with `<invoke name="N">` elements inside a block (MiniMax M2, dots, Step 3, DeepSeek from V3.2 on). */

import type {CreateReader} from '../argument-reader.ts';
import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {WrittenKey} from '../argument-readers/parameter-writer.ts';
import {wholeCall} from '../argument-readers/whole-call.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {COMMON_KEYS} from './json-markup.ts';

interface InvokeMarkup {
  open: readonly string[];
  close: readonly string[];
  /** In front of the name, up to the equals sign, and the element's end. */
  invoke: readonly [open: string, close: string];
  parameter: readonly [open: string, close: string];
  textAfter: 'content' | 'drop';
  /** A call of a name that is not among the tools is dropped, or its markup is shown. */
  unknown: 'call' | 'drop' | 'content';
  readKey?: (written: string) => WrittenKey;
  wrappers?: readonly string[];
  /** Calls may be JSON objects, too. */
  readsObjects?: boolean;
  /** A name that the end of the text cuts off is reported as far as it came. */
  reportsCutNames?: boolean;
  unnamedMarkup: 'content' | 'drop';
}

function invokeMachine(markup: InvokeMarkup, context: ParserContext): MachineDefinition {
  const [invokeOpen, invokeClose] = markup.invoke;
  const [parameterOpen, parameterClose] = markup.parameter;
  const startCall = (written: string): Transition => {
    const name = unquote(written);
    if (name === '') return {to: 'section', fails: true};
    const isUnknown = !context.tools.some((tool) => tool.name === name);
    if (isUnknown && markup.unknown === 'content') return {to: 'content', fails: true};
    return isUnknown && markup.unknown === 'drop' ? {to: 'skipped', drops: true} : {to: 'call', call: {name}};
  };
  const behind = markup.textAfter === 'content' ? 'content' : 'behind';
  const openers = onAll(markup.open, {to: 'section', opensCall: true});
  return {
    start: 'content',
    unnamedMarkup: markup.unnamedMarkup,
    modes: {
      content: {kind: 'text', as: 'content', on: openers},
      section: {
        kind: 'text',
        as: 'nothing',
        on: {
          [invokeOpen]: {to: 'name', opensCall: true},
          ...onAll(markup.close, {to: behind}),
          ...(markup.readsObjects === true ? {'{': {to: 'object', marker: 'reread', opensCall: true}} : {}),
        },
      },
      object: {kind: 'reader', create: objectReader(markup), next: 'section', nextFailed: 'content'},
      name: {
        kind: 'capture',
        on: {'>': startCall, [invokeOpen]: {to: 'name'}, ...onAll(markup.close, {to: behind})},
        atEnd: (written) => cutName(written, markup, startCall),
      },
      call: {
        kind: 'reader',
        create: parameterTags({
          keyOpen: parameterOpen,
          keyClose: '>',
          valueClose: parameterClose,
          callClose: invokeClose,
          ends: [invokeOpen, ...markup.close],
          readKey: markup.readKey ?? ((written) => ({key: unquote(written)})),
          wrappers: markup.wrappers ?? [],
        }),
        next: 'section',
      },
      skipped: {kind: 'text', as: 'nothing', on: {[invokeClose]: {to: 'section'}}},
      behind: {kind: 'text', as: 'nothing', on: openers},
    },
  };
}

/** A JSON object in the place of an element; of a function that is not declared it is text. */
function objectReader({close}: InvokeMarkup): CreateReader {
  const isDeclared = (name: string, {tools}: ParserContext) => tools.some((tool) => tool.name === name);
  return wholeCall(jsonEnvelope({...COMMON_KEYS, closeMarkers: close}), {
    accepts: ({name}, request) => isDeclared(name, request),
  });
}

function onAll(markers: readonly string[], transition: Transition): Record<string, Transition> {
  return Object.fromEntries(markers.map((marker) => [marker, transition]));
}

const QUOTED = /^(["'])(.*?)\1/s;

/** The text ends in a name: reported as it is, or only when it was complete. */
function cutName(written: string, markup: InvokeMarkup, startCall: (written: string) => Transition): Transition {
  const raw = written.replace(/^["']/, '');
  if (markup.reportsCutNames === true) return raw === '' ? {} : {to: 'section', call: {name: raw}};
  const isComplete = QUOTED.test(written);
  return isComplete ? {...startCall(written), to: 'section'} : {};
}

/** A name or key in quotes of either kind, or without. */
function unquote(written: string): string {
  return (QUOTED.exec(written)?.[2] ?? written).trim();
}

/** `"K" string="true"`: the attribute says whether the value is text or JSON. */
function readDsmlKey(written: string): WrittenKey {
  const isText = /\bstring\s*=\s*["']?true/i.test(written);
  return {key: unquote(written), kind: isText ? 'text' : 'json'};
}

const DSML = '｜DSML｜';

function dsmlMarkup(names: readonly string[], space = ''): InvokeMarkup {
  return {
    open: names.map((name) => `<${DSML}${space}${name}>`),
    close: names.map((name) => `</${DSML}${space}${name}>`),
    invoke: [`<${DSML}${space}invoke name=`, `</${DSML}${space}invoke>`],
    parameter: [`<${DSML}${space}parameter name=`, `</${DSML}${space}parameter>`],
    textAfter: 'drop',
    unknown: 'call',
    readKey: readDsmlKey,
    wrappers: ['arguments', 'input'],
    reportsCutNames: true,
    unnamedMarkup: 'drop',
  };
}

const INVOKE = ['<invoke name=', '</invoke>'] as const;
const PARAMETER = ['<parameter name=', '</parameter>'] as const;

type Fields = Omit<ToolFormat, 'kind' | 'machine'>;

const ENGINE = {keepsSpecialTokens: 'always', forcedCalls: 'native', whenNone: 'drop-markup'} as const;

const rows: readonly [Fields, InvokeMarkup][] = [
  [
    {...ENGINE, names: ['minimax_m2']},
    {
      open: ['<minimax:tool_call>'],
      close: ['</minimax:tool_call>'],
      invoke: INVOKE,
      parameter: PARAMETER,
      textAfter: 'content',
      unknown: 'drop',
      unnamedMarkup: 'drop',
    },
  ],
  [
    {names: ['dots'], keepsSpecialTokens: 'no', forcedCalls: 'native', whenNone: 'raw'},
    {
      open: ['<dots_function_call>'],
      close: ['</dots_function_call>'],
      invoke: INVOKE,
      parameter: PARAMETER,
      textAfter: 'content',
      unknown: 'content',
      readsObjects: true,
      unnamedMarkup: 'content',
    },
  ],
  [
    {names: ['step3'], keepsSpecialTokens: 'with-tools', forcedCalls: 'json', whenNone: 'raw'},
    {
      open: ['<｜tool_calls_begin｜>'],
      close: ['<｜tool_calls_end｜>'],
      invoke: ['<steptml:invoke name=', '</steptml:invoke>'],
      parameter: ['<steptml:parameter name=', '</steptml:parameter>'],
      textAfter: 'content',
      unknown: 'call',
      unnamedMarkup: 'content',
    },
  ],
  [{...ENGINE, names: ['deepseek_v32']}, dsmlMarkup(['function_calls'])],
  [{...ENGINE, names: ['deepseek_v4']}, dsmlMarkup(['tool_calls', 'toolcalls', 'tool'])],
  [{...ENGINE, names: ['deepseek_v41']}, dsmlMarkup(['calls'], ' ')],
];

export const invokeFormats: readonly ToolFormat[] = rows.map(([fields, markup]) => ({
  ...fields,
  kind: 'tool',
  machine: (context) => invokeMachine(markup, context),
}));
