/**
 * Building blocks for formats whose calls are JSON objects with the name inside: one object between markers, or an array
 * of objects behind a marker. A format names its markers and what becomes of the text around the calls.
 */

import {type JsonEnvelopeOptions, jsonEnvelope} from '../argument-readers/json-envelope.ts';
import {wholeCall} from '../argument-readers/whole-call.ts';
import type {MachineDefinition, Mode, Transition} from '../format.ts';

/** Keys that most families use. */
export const COMMON_KEYS = {nameKeys: ['name'], argumentKeys: ['arguments', 'parameters']} as const;

export interface JsonMarkup {
  /** Markers that open a call or an array of calls. */
  open: readonly string[];
  /** Marker that closes it. */
  close?: string;
  keys?: JsonEnvelopeOptions;
  /** Text behind a call: content again, or dropped up to the next opener. */
  textAfter: 'content' | 'drop';
  /** Only the first call counts; everything behind it is dropped. */
  onlyOneCall?: boolean;
  /** Calls that do not come to their end are dropped, so a call is reported when it is complete. */
  wholeCalls?: boolean;
  /** Further rules for the text outside calls. */
  contentRules?: Readonly<Record<string, Transition>>;
}

/** One object per opener. */
export function jsonObjectMarkup(markup: JsonMarkup): MachineDefinition {
  const opened: Mode = {
    kind: 'text',
    as: 'nothing',
    on: {'{': {to: 'call', marker: 'reread'}, ...closing(markup, {to: 'content', fails: true})},
    otherwise: {to: 'content', fails: true},
  };
  return {start: 'content', modes: {...aroundCalls(markup, 'opened', 'after'), opened}};
}

/** Objects in an array behind one opener; a bare object counts as an array of one. */
export function jsonArrayMarkup(markup: JsonMarkup): MachineDefinition {
  const noCall: Transition = {to: 'content', fails: true};
  const object: Transition = {to: 'call', marker: 'reread'};
  const modes: Record<string, Mode> = {
    opened: {
      kind: 'text',
      as: 'nothing',
      on: {'[': {to: 'first'}, '{': object, ...closing(markup, noCall)},
      otherwise: noCall,
    },
    first: {kind: 'text', as: 'nothing', on: {'{': object}, otherwise: noCall},
    items: {
      kind: 'text',
      as: 'nothing',
      on: {'{': object, ']': {to: 'after'}, ...closing(markup, {to: 'after', marker: 'reread'})},
    },
  };
  return {start: 'content', modes: {...aroundCalls(markup, 'opened', 'items'), ...modes}};
}

/** Content, the call itself and what follows it. */
function aroundCalls(markup: JsonMarkup, opened: string, next: string): Record<string, Mode> {
  const keys = markup.keys ?? COMMON_KEYS;
  const closeMarkers = markup.close === undefined ? [] : [markup.close];
  const read = jsonEnvelope({...keys, closeMarkers});
  const openers = Object.fromEntries(markup.open.map((open) => [open, {to: opened, opensCall: true}]));
  return {
    content: {kind: 'text', as: 'content', on: {...markup.contentRules, ...openers}},
    call: {kind: 'reader', create: markup.wholeCalls ? wholeCall(read) : read, next, nextFailed: 'content'},
    after: afterCalls(markup, openers),
  };
}

function afterCalls(markup: JsonMarkup, openers: Readonly<Record<string, Transition>>): Mode {
  if (markup.textAfter === 'drop') return {kind: 'text', as: 'nothing', on: markup.onlyOneCall ? {} : openers};
  const again: Transition = {to: 'content'};
  return {
    kind: 'text',
    as: 'nothing',
    on: {...closing(markup, again), ...reread(openers)},
    otherwise: again,
  };
}

/** The content mode sees the opener again. */
function reread(openers: Readonly<Record<string, Transition>>): Record<string, Transition> {
  return Object.fromEntries(Object.keys(openers).map((open) => [open, {to: 'content', marker: 'reread' as const}]));
}

function closing(markup: JsonMarkup, transition: Transition): Record<string, Transition> {
  return markup.close === undefined ? {} : {[markup.close]: transition};
}
