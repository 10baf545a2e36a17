/**
 * Harmony (gpt-oss): messages with a header that names channel and recipient. `analysis` is reasoning, a recipient
 * `functions.N` on any channel is a call, everything else is content. Headers may be damaged: what cannot be a header is
 * text.
 */

import {jsonObject} from '../argument-readers/json-object.ts';
import type {Format, MachineDefinition, MachineParts, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';

const START = '<|start|>';
const CHANNEL = '<|channel|>';
const MESSAGE = '<|message|>';
const ENDS = ['<|end|>', '<|return|>', '<|call|>'];
const RECIPIENT = /\bto=([^\s<]+)/;
const CHANNEL_NAME = /<\|channel\|>\s*([a-z]+)/;
const FUNCTIONS = 'functions.';
/** A header is a role, a channel, a recipient and a content type; longer text is none. */
const MAX_HEADER = 256;

/** The function that a header calls: with the prefix, or one of the tools without it. */
function calledFunction(header: string, context: ParserContext): string | undefined {
  const recipient = RECIPIENT.exec(header)?.[1];
  if (recipient?.startsWith(FUNCTIONS)) return recipient.slice(FUNCTIONS.length);
  return context.tools.some((tool) => tool.name === recipient) ? recipient : undefined;
}

function readHeader(header: string, context: ParserContext, parts: MachineParts): Transition {
  const name = calledFunction(header, context);
  if (name !== undefined) return parts.tools ? {to: 'call', call: {name}} : {to: 'hidden'};
  if (CHANNEL_NAME.exec(header)?.[1] !== 'analysis') return {to: 'content'};
  return {to: parts.reasoning ? 'reasoning' : 'hidden'};
}

function harmony(context: ParserContext, parts: MachineParts): MachineDefinition {
  const ends = Object.fromEntries(ENDS.map((end) => [end, {to: 'between'}]));
  const leaving: Record<string, Transition> = {
    ...ends,
    [START]: {to: 'header'},
    [CHANNEL]: {to: 'header', marker: 'reread'},
  };
  const noHeader: Transition = {to: 'content', shows: 'content'};
  return {
    start: startMode(context),
    modes: {
      header: {
        kind: 'capture',
        on: {[MESSAGE]: (header) => readHeader(header, context, parts), [START]: {to: 'header'}, ...ends},
        maxLength: MAX_HEADER,
        tooLong: noHeader,
        atEnd: (header) => (header.includes(CHANNEL) || header === 'assistant' ? {} : noHeader),
      },
      content: {kind: 'text', as: 'content', on: leaving},
      reasoning: {kind: 'text', as: 'reasoning', on: leaving},
      hidden: {kind: 'text', as: 'nothing', on: leaving},
      between: {kind: 'text', as: 'nothing', on: leaving, otherwise: {to: 'header'}},
      call: {kind: 'reader', create: jsonObject({closeMarkers: [...ENDS, START]}), next: 'between'},
    },
  };
}

/** The prompt may have opened the message already. */
function startMode({promptTail}: ParserContext): string {
  if (!promptTail.endsWith(MESSAGE)) return 'header';
  return promptTail.endsWith(`${CHANNEL}analysis${MESSAGE}`) ? 'reasoning' : 'content';
}

const shared = {keepsSpecialTokens: 'always', family: 'harmony', machine: harmony} as const;

export const harmonyFormats: readonly Format[] = [
  {...shared, kind: 'tool', names: ['openai'], forcedCalls: 'native', whenNone: 'read'},
  {
    ...shared,
    kind: 'reasoning',
    names: ['openai_gptoss'],
    answerHeader: {begin: `${CHANNEL}final`, end: MESSAGE},
  },
];
