/**
 * `hf` and `beam`: formats that the checkpoint describes. Thoughts, answer and calls are fields of one template, so they
 * run as one machine; a field that the request may not have is shown as the model wrote it.
 */

import {mayCall} from '../create-output-parser.ts';
import type {Format, MachineDefinition, MachineParts, Mode, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {type CallContent, callContent} from './call-content.ts';
import type {FixedEnds} from './pattern.ts';
import {openAtEnd} from './prompt-field.ts';
import {fieldNamed, invalid, type ResponseTemplate, readResponseTemplate, type TemplateField} from './template.ts';

const OUTSIDE = 'outside';
const CALLS = 'tool_calls';
const THINKING = 'thinking';
/** Longest opener with a variable part, in characters. */
const MAX_OPENER = 512;

type Rules = Record<string, Transition | ((captured: string) => Transition)>;

/** @throws ValidationError */
export function checkResponseTemplate(written: unknown): ResponseTemplate {
  const template = readResponseTemplate(written);
  const calls = fieldNamed(template, CALLS);
  if (calls?.openers.length === 0) throw invalid('tool_calls needs an opener');
  if (calls !== undefined) callContent(calls);
  return template;
}

function templateMachine(context: ParserContext, parts: MachineParts): MachineDefinition {
  const template = checkResponseTemplate(context.responseTemplate);
  const wanted = {reasoning: parts.reasoning, tools: parts.tools && mayCall(context)};
  const rest = template.fields.find(({openers}) => openers.length === 0);
  const opened = template.fields.filter(({openers}) => openers.length > 0);
  const modes: Record<string, Mode> = {};
  for (const field of opened) Object.assign(modes, modesOf(field, wanted, opened));
  const entries = opened.flatMap((field) => field.openers.map((opener) => entry(field, opener, wanted, modes, rest)));
  const closing = (rest?.closers ?? []).map((closer) => [closer, {}] as const);
  modes[OUTSIDE] = {
    kind: 'text',
    as: rest === undefined ? 'nothing' : meaningOf(rest, wanted),
    on: Object.fromEntries([...closing, ...entries]),
  };
  return {start: startMode(template, context, wanted, modes), modes, unnamedMarkup: 'drop'};
}

function meaningOf(field: TemplateField, wanted: MachineParts): 'content' | 'reasoning' | 'nothing' {
  if (field.name === THINKING) return wanted.reasoning ? 'reasoning' : 'content';
  return field.name === 'content' || field.name === CALLS ? 'content' : 'nothing';
}

/** Shown with its markers, because the request may not have what the field means. */
function isRaw({name}: TemplateField, wanted: MachineParts): boolean {
  return (name === THINKING && !wanted.reasoning) || (name === CALLS && !wanted.tools);
}

/** The rule for the fixed beginning of an opener, and the modes behind it. */
function entry(
  field: TemplateField,
  opener: FixedEnds,
  wanted: MachineParts,
  modes: Record<string, Mode>,
  rest: TemplateField | undefined,
): readonly [string, Transition] {
  const {prefix} = opener;
  if (isRaw(field, wanted)) return [prefix, {to: field.name, marker: 'reread'}];
  const isCall = field.name === CALLS;
  if (opener.suffix === undefined) return [prefix, {to: isCall ? 'opened' : field.name, opensCall: isCall}];
  const mode = `opener ${prefix}`;
  const failed: Transition = {to: OUTSIDE, ...(rest === undefined ? {drops: true} : {fails: true})};
  const content = isCall ? callContent(field) : undefined;
  const rule = openerRule(field, opener, content, failed);
  const stops = opener.suffix === '' ? (content?.starts ?? ['\n']) : [opener.suffix];
  const known = modes[mode];
  const others: Rules = known?.kind === 'capture' ? known.on : {};
  modes[mode] = {
    kind: 'capture',
    on: {...others, ...Object.fromEntries(stops.map((stop) => [stop, rule]))},
    maxLength: MAX_OPENER,
    tooLong: failed,
    atEnd: () => failed,
  };
  return [prefix, {to: mode, opensCall: true}];
}

function openerRule(
  field: TemplateField,
  {prefix, suffix = '', whole}: FixedEnds,
  content: CallContent | undefined,
  failed: Transition,
): (captured: string) => Transition {
  return (captured) => {
    const groups = whole?.exec(prefix + captured + suffix) ?? whole?.exec(`${prefix}${captured}`.trimEnd());
    if (groups === null || groups === undefined) return failed;
    const marker = suffix === '' ? ({marker: 'reread'} as const) : {};
    if (content === undefined) return {to: field.name, drops: true, ...marker};
    return {...startOf(content, groups.groups?.[content.nameGroup ?? '']), ...marker};
  };
}

/** To the content of a call whose opener is complete. */
function startOf(content: CallContent, name: string | undefined): Transition {
  if (name === undefined) return {to: 'opened'};
  return {to: 'call', ...(content.countsAtOnce ? {call: {name}} : {names: name})};
}

function modesOf(field: TemplateField, wanted: MachineParts, all: readonly TemplateField[]): Record<string, Mode> {
  const leaves = (marker: 'drop' | 'keep'): Record<string, Transition> =>
    Object.fromEntries(field.closers.map((closer) => [closer, {to: OUTSIDE, marker}]));
  if (isRaw(field, wanted)) return {[field.name]: {kind: 'text', as: 'content', on: leaves('keep')}};
  if (field.name === CALLS) return callModes(field, all);
  const repeated = field.name === THINKING ? field.openers.filter(({suffix}) => suffix === undefined) : [];
  const again = Object.fromEntries(repeated.map(({prefix}) => [prefix, {}]));
  return {[field.name]: {kind: 'text', as: meaningOf(field, wanted), on: {...again, ...leaves('drop')}}};
}

function callModes(field: TemplateField, all: readonly TemplateField[]): Record<string, Mode> {
  const content = callContent(field);
  const closed = Object.fromEntries(field.closers.map((closer) => [closer, {to: OUTSIDE}]));
  const next = Object.fromEntries(
    all.flatMap(({openers}) => openers.map(({prefix}) => [prefix, {to: OUTSIDE, marker: 'reread' as const}])),
  );
  const object: Transition = {to: 'call', marker: 'reread'};
  return {
    opened: {kind: 'text', as: 'nothing', on: {'{': object, '[': {to: 'items'}, ...closed}, otherwise: {to: 'skipped'}},
    items: {kind: 'text', as: 'nothing', on: {'{': object, ']': {to: 'behind'}, ...closed}},
    call: {kind: 'reader', create: content.create, next: 'behind', nextFailed: 'skipped'},
    behind: {kind: 'text', as: 'nothing', on: {...next, '{': object, ...closed}},
    skipped: {kind: 'text', as: 'nothing', on: closed},
  };
}

/** Where the answer begins: in the field that the prompt left open, or outside of all. */
function startMode(
  template: ResponseTemplate,
  context: ParserContext,
  wanted: MachineParts,
  modes: Record<string, Mode>,
): string {
  const open = openAtEnd(template, context.promptTail);
  if (open === undefined) return OUTSIDE;
  if (open.field.name !== CALLS || isRaw(open.field, wanted)) return open.field.name;
  if (open.text.trim() !== '') return OUTSIDE;
  const content = callContent(open.field);
  const begin = startOf(content, open.groups[content.nameGroup ?? '']);
  modes.prompted = {kind: 'text', as: 'nothing', otherwise: begin, otherwiseAtBlanks: true};
  return 'prompted';
}

const common = {
  family: 'response-template',
  keepsSpecialTokens: 'always',
  machine: templateMachine,
} as const;

const FORCED_CALLS = {hf: 'refused', beam: 'native'} as const;

export const responseTemplateFormats: readonly Format[] = Object.entries(FORCED_CALLS).flatMap(
  ([name, forcedCalls]): Format[] => [
    {kind: 'tool', names: [name], forcedCalls, whenNone: 'drop-markup', ...common},
    {kind: 'reasoning', names: [name], ...common},
  ],
);
