/**
 * K2 Horizon: a group of calls in one of three dialects that the request chooses (pairs of key and value, the same with
 * types written in, JSON). Either every call of the group is well-formed or the whole group is text.
 */

import {jsonEnvelope} from '../argument-readers/json-envelope.ts';
import {parameterTags} from '../argument-readers/parameter-tags.ts';
import {wholeCall} from '../argument-readers/whole-call.ts';
import {isJsonObject} from '../argument-readers/written-json.ts';
import type {MachineDefinition, Mode, ToolFormat, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';

const tag = (element: string) => `<ifm|${element}>`;
const endTag = (element: string) => `</ifm|${element}>`;
const CALL_END = endTag('tool_call');
const KEY = tag('arg_key');
const NO_CALL: Transition = {to: 'content', fails: true};

function isDeclared(name: string, context: ParserContext): boolean {
  return context.tools.some((tool) => tool.name === name);
}

const readPairs = wholeCall(
  parameterTags({
    keyOpen: KEY,
    keyClose: endTag('arg_key'),
    valueOpen: tag('arg_value'),
    valueClose: endTag('arg_value'),
    typeTags: {open: tag('arg_type'), close: endTag('arg_type')},
    callClose: CALL_END,
    ends: [tag('tool_call'), endTag('tool_calls')],
    isStrict: true,
  }),
  {isStrict: true},
);

const readObject = wholeCall(jsonEnvelope({nameKeys: ['name'], argumentKeys: ['arguments']}), {
  isStrict: true,
  accepts: ({name, json}, request) => isDeclared(name, request) && isJsonObject(json || '{}'),
});

function pairModes(context: ParserContext): Record<string, Mode> {
  const startCall = (name: string): Transition =>
    isDeclared(name, context) ? {to: 'call', names: name, marker: 'reread'} : NO_CALL;
  return {
    opened: {kind: 'capture', on: {[KEY]: startCall, [CALL_END]: startCall, [endTag('tool_calls')]: NO_CALL}},
    call: {kind: 'reader', create: readPairs, next: 'group', nextFailed: 'content'},
  };
}

const objectModes: Record<string, Mode> = {
  opened: {kind: 'text', as: 'nothing', on: {'{': {to: 'call', marker: 'reread'}}, otherwise: NO_CALL},
  call: {kind: 'reader', create: readObject, next: 'closing', nextFailed: 'content'},
  closing: {kind: 'text', as: 'nothing', on: {[CALL_END]: {to: 'group'}}, otherwise: NO_CALL},
};

function k2Horizon(context: ParserContext): MachineDefinition {
  const isJson = context.chatTemplateKwargs.tool_call_format === 'json';
  return {
    start: 'content',
    modes: {
      content: {
        kind: 'text',
        as: 'content',
        on: {[tag('tool_calls')]: {to: 'group', opensCall: true, opensGroup: true}},
      },
      group: {
        kind: 'text',
        as: 'nothing',
        on: {[tag('tool_call')]: {to: 'opened'}, [endTag('tool_calls')]: {to: 'content', closesGroup: true}},
        otherwise: NO_CALL,
      },
      ...(isJson ? objectModes : pairModes(context)),
    },
  };
}

export const k2HorizonFormats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['k2_horizon'],
    keepsSpecialTokens: 'no',
    forcedCalls: 'native',
    whenNone: 'raw',
    machine: k2Horizon,
  },
];
