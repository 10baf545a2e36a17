/**
 * Muse: messages whose header names the recipient. `self` is reasoning, `user` (and `commentary`) is content, anything
 * else is a call when it holds call markup.
 */

import {parameterTags} from '../argument-readers/parameter-tags.ts';
import type {Format, MachineDefinition, MachineParts, Transition} from '../format.ts';

const START = '<|start|>';
const MESSAGE = '<|message|>';
const ENDS = ['<|eom|>', '<|eot|>'];
const INVOKE = '<atem:invoke name=';
const RECIPIENT = /\bto=(\S+)/;
const MAX_HEADER = 256;

interface Profile {
  /** Recipients whose messages are content. */
  visible: readonly string[];
  /** What a message without recipient is. */
  withoutRecipient: 'content' | 'reasoning';
  hidden: readonly string[];
}

const MUSE: Profile = {visible: ['user', 'commentary'], withoutRecipient: 'reasoning', hidden: ['developer']};
const GLIMMER: Profile = {visible: ['user'], withoutRecipient: 'content', hidden: ['developer', 'commentary']};

function readHeader(header: string, profile: Profile, parts: MachineParts): Transition {
  const recipient = RECIPIENT.exec(header)?.[1];
  const thought: Transition = {to: parts.reasoning ? 'reasoning' : 'hidden'};
  if (recipient === undefined) return profile.withoutRecipient === 'reasoning' ? thought : {to: 'content'};
  if (recipient === 'self') return thought;
  if (profile.visible.includes(recipient)) return {to: 'content'};
  return {to: profile.hidden.includes(recipient) || !parts.tools ? 'hidden' : 'calls'};
}

/** `N.N` is `N`. */
function startCall(written: string): Transition {
  const name = written.replace(/^(["'])(.*)\1$/s, '$2').replace(/^(.+)\.\1$/s, '$1');
  return name === '' ? {to: 'calls', drops: true} : {to: 'call', call: {name}};
}

function muse(profile: Profile, parts: MachineParts): MachineDefinition {
  const leaving: Record<string, Transition> = {
    ...Object.fromEntries(ENDS.map((end) => [end, {to: 'between'}])),
    [START]: {to: 'header'},
  };
  const noHeader: Transition = {to: 'content', shows: 'content'};
  return {
    start: 'header',
    unnamedMarkup: 'drop',
    modes: {
      header: {
        kind: 'capture',
        on: {[MESSAGE]: (header) => readHeader(header, profile, parts), ...leaving},
        maxLength: MAX_HEADER,
        tooLong: noHeader,
        atEnd: (header) => (header === '' || header === 'assistant' ? {} : noHeader),
      },
      content: {kind: 'text', as: 'content', on: leaving},
      reasoning: {kind: 'text', as: 'reasoning', on: leaving},
      hidden: {kind: 'text', as: 'nothing', on: leaving},
      between: {kind: 'text', as: 'nothing', on: leaving, otherwise: {to: 'header'}},
      calls: {kind: 'text', as: 'nothing', on: {[INVOKE]: {to: 'name', opensCall: true}, ...leaving}},
      name: {kind: 'capture', on: {'>': startCall, ...leaving}},
      call: {
        kind: 'reader',
        create: parameterTags({
          keyOpen: '<atem:parameter name=',
          keyClose: '>',
          valueClose: '</atem:parameter>',
          callClose: '</atem:invoke>',
          ends: [INVOKE, '</atem:function_calls>', ...ENDS, START],
          undeclared: 'json',
          dropsUnclosed: true,
          readKey: (written) => ({key: written.replace(/^(["'])(.*)\1$/s, '$2')}),
        }),
        next: 'calls',
      },
    },
  };
}

const profiles: readonly [names: Format['names'], profile: Profile][] = [
  [['muse', 'musespark1x'], MUSE],
  [['muse_glimmer'], GLIMMER],
];

export const museFormats: readonly Format[] = profiles.flatMap(([names, profile]): Format[] => {
  const shared = {
    names,
    keepsSpecialTokens: 'always',
    family: names[0],
    machine: (_context: unknown, parts: MachineParts) => muse(profile, parts),
  } as const;
  return [
    {...shared, kind: 'tool', forcedCalls: 'unheld', whenNone: 'raw'},
    {...shared, kind: 'reasoning'},
  ];
});
