/**
 * Kimi K3: elements `<|open|>NAME ...<|sep|>` and `<|close|>NAME<|sep|>` for thought, response and calls; each argument
 * says its type. A call is reported when it is complete.
 */

import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {WrittenKey} from '../argument-readers/parameter-writer.ts';
import {wholeCall} from '../argument-readers/whole-call.ts';
import type {Format, MachineDefinition, MachineParts, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {promptState} from '../reasoning/prompt-state.ts';
import {thinkingOrEnable} from '../reasoning/thinking-switch.ts';

const open = (element: string) => `<|open|>${element}<|sep|>`;
const close = (element: string) => `<|close|>${element}<|sep|>`;
const CALL = '<|open|>call ';
const ENTITIES: Readonly<Record<string, string>> = {'&amp;': '&', '&quot;': '"', '&lt;': '<', '&gt;': '>'};

/** The value of an attribute, its entities resolved. */
function attribute(written: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(written)?.[1];
  return value?.replace(/&(?:amp|quot|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}

function readKey(written: string): WrittenKey {
  return {key: attribute(written, 'key') ?? written, kind: attribute(written, 'type') === 'string' ? 'text' : 'json'};
}

function startCall(written: string): Transition {
  const name = attribute(written, 'tool');
  return name === undefined || name === '' ? {to: 'tools', drops: true} : {to: 'call', names: name};
}

function kimiK3(context: ParserContext, parts: MachineParts): MachineDefinition {
  const on: Record<string, Transition> = {
    [open('think')]: {to: parts.reasoning ? 'reasoning' : 'hidden'},
    [open('response')]: {to: 'content'},
    [open('tools')]: {to: parts.tools ? 'tools' : 'hidden'},
    ...Object.fromEntries(
      ['think', 'response', 'tools', 'message'].map((element) => [close(element), {to: 'content'}]),
    ),
  };
  return {
    start: startMode(context, parts),
    unnamedMarkup: 'drop',
    modes: {
      content: {kind: 'text', as: 'content', on},
      reasoning: {kind: 'text', as: 'reasoning', on},
      hidden: {kind: 'text', as: 'nothing', on},
      tools: {kind: 'text', as: 'nothing', on: {[CALL]: {to: 'header', opensCall: true}, ...on}},
      header: {kind: 'capture', on: {'<|sep|>': startCall}},
      call: {
        kind: 'reader',
        create: wholeCall(
          parameterTags({
            keyOpen: '<|open|>argument ',
            keyClose: '<|sep|>',
            valueClose: close('argument'),
            callClose: close('call'),
            ends: [CALL, close('tools')],
            readKey,
          }),
          {isStrict: true},
        ),
        next: 'tools',
      },
    },
  };
}

function startMode({chatTemplateKwargs, promptTail}: ParserContext, parts: MachineParts): string {
  if (!parts.reasoning || !thinkingOrEnable(chatTemplateKwargs)) return 'content';
  return promptState(promptTail, {open: open('think'), close: close('think')}) ?? 'reasoning';
}

const shared = {names: ['kimi_k3'], keepsSpecialTokens: 'always', family: 'kimi_k3', machine: kimiK3} as const;

export const kimiK3Formats: readonly Format[] = [
  {...shared, kind: 'tool', forcedCalls: 'native', namesInMarkupOnly: true, whenNone: 'drop-markup'},
  {...shared, kind: 'reasoning'},
];
