/**
 * Calls that a JSON schema forces out of a model instead of its own markup (`required` and named functions for formats
 * without a grammar of their own): an array of `{"name", "parameters"}` objects, or the bare arguments of the named
 * function.
 */

import type {ArgumentReader} from './argument-reader.ts';
import {jsonEnvelope} from './argument-readers/json-envelope.ts';
import type {MachineDefinition} from './format.ts';
import type {ParserContext} from './output-parser.ts';

export function forcedCallsMachine(context: ParserContext): MachineDefinition {
  const {toolChoice} = context;
  return typeof toolChoice === 'object' ? namedCall(toolChoice.name) : requiredCalls;
}

const requiredCalls: MachineDefinition = {
  start: 'between',
  unnamedMarkup: 'drop',
  announceWithArguments: true,
  modes: {
    between: {kind: 'text', as: 'nothing', on: {'{': {to: 'call', marker: 'reread', opensCall: true}}},
    call: {
      kind: 'reader',
      create: jsonEnvelope({nameKeys: ['name'], argumentKeys: ['parameters', 'arguments']}),
      next: 'between',
    },
  },
};

/** The whole text is the arguments. */
function namedCall(name: string): MachineDefinition {
  return {
    start: 'before',
    modes: {
      before: {kind: 'text', as: 'nothing', otherwise: {to: 'arguments', call: {name}}},
      arguments: {kind: 'reader', create: ({name: known}) => wholeText(known), next: 'before'},
    },
  };
}

function wholeText(name: string | undefined): ArgumentReader {
  return {
    name,
    push: (text) => ({json: text, state: 'more', rest: ''}),
    finish: () => ({json: '', state: 'done', rest: ''}),
  };
}
