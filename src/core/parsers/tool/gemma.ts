/** Gemma 4 and FunctionGemma: `call:N{key:value,...}` with quotes of their own. */

import {type KeyValueOptions, keyValues} from '../argument-readers/key-values.ts';
import type {MachineDefinition, ToolFormat, Transition} from '../format.ts';

interface GemmaMarkup {
  open: string;
  close: string;
  values: KeyValueOptions;
  unnamedMarkup: 'content' | 'drop';
}

/** `call:N`, `:N` or `N`. */
function startCall(header: string): Transition {
  const name = header.slice(header.indexOf(':') + 1).trim();
  return name === '' ? {to: 'behind', fails: true} : {to: 'call', call: {name}};
}

function gemmaMachine({open, close, values, unnamedMarkup}: GemmaMarkup): MachineDefinition {
  const opens: Transition = {to: 'name', opensCall: true};
  return {
    start: 'content',
    unnamedMarkup,
    modes: {
      content: {kind: 'text', as: 'content', on: {[open]: opens}},
      name: {kind: 'capture', on: {'{': startCall, '(': startCall, [close]: {to: 'content', fails: true}}},
      call: {kind: 'reader', create: keyValues(values), next: 'behind'},
      behind: {kind: 'text', as: 'nothing', on: {[close]: {to: 'content'}, [open]: opens}},
    },
  };
}

const gemma4 = gemmaMachine({
  open: '<|tool_call>',
  close: '<tool_call|>',
  values: {quote: '<|"|>'},
  unnamedMarkup: 'drop',
});

const functionGemma = gemmaMachine({
  open: '<start_function_call>',
  close: '<end_function_call>',
  values: {quote: '<escape>', typesQuoted: true},
  unnamedMarkup: 'content',
});

export const gemmaFormats: readonly ToolFormat[] = [
  {
    kind: 'tool',
    names: ['gemma4'],
    keepsSpecialTokens: 'always',
    forcedCalls: 'native',
    whenNone: 'drop-markup',
    machine: () => gemma4,
  },
  {
    kind: 'tool',
    names: ['functiongemma'],
    keepsSpecialTokens: 'with-tools',
    forcedCalls: 'json',
    whenNone: 'raw',
    machine: () => functionGemma,
  },
];
