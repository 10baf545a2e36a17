/**
 * The help of a command as text, from its option specs: a first page with the flags that people use most and one line
 * per group, and on request everything, one group, or the flags whose name contains a text. Pure functions.
 */
import {nearestName} from '../core/util/nearest-name.ts';
import {wrapWords} from '../core/util/wrap-words.ts';
import type {OptionSpec} from './option-spec.ts';

export interface HelpSubject {
  /** The words before the flags, e.g. `parlance serve`. */
  command: string;
  summary: string;
  /** Positional arguments: name in capitals and description. */
  positionals: {name: string; description: string}[];
  specs: readonly OptionSpec[];
  examples: readonly string[];
}

export interface HelpLayout {
  /** Columns of the terminal. */
  width: number;
  heading: (text: string) => string;
}

export interface ProgramSubject {
  /** `parlance` */
  program: string;
  version: string;
  summary: string;
  commands: readonly {name: string; summary: string}[];
}

/** What most people come for goes first, the rest as it is. */
const commandOrder = ['serve', 'chat', 'bench', 'render-template', 'parse-output', 'models'];

/** The page of the program itself: its commands, and how to begin. */
export function programHelp({program, version, summary, commands}: ProgramSubject, layout: HelpLayout): string {
  const place = ({name}: {name: string}) => commandOrder.indexOf(name) + 1 || commandOrder.length + 1;
  const rows = commands.toSorted((a, b) => place(a) - place(b)).map((each) => [each.name, each.summary] as const);
  const begin = [
    [`${program} serve`, 'an HTTP server on port 8000, with the model that comes along'],
    [`${program} chat`, 'a talk with the same model'],
    [`${program} serve --help`, 'what a command takes; -h is the same'],
  ] as const;
  return [
    wrapWords(summary, layout.width).join('\n'),
    section('Version', [`  ${version}`], layout),
    section('Usage', [`  ${program} COMMAND [ARGUMENTS] [FLAGS]`], layout),
    section('Commands', table(rows, layout.width), layout),
    section('To begin with', table(begin, layout.width), layout),
  ].join('\n\n');
}

/** @param topic null for the first page; `all`, a group, or a part of a flag name */
export function commandHelp(subject: HelpSubject, topic: string | null, layout: HelpLayout): string {
  if (topic === null) return firstPage(subject, layout);
  const wanted = normalized(topic);
  if (wanted === 'all') return allGroups(subject, layout);
  const groups = groupNames(subject.specs);
  const group = groups.find((name) => squeezed(name) === squeezed(topic));
  if (group) return groupPage(subject, group, layout);
  const matching = subject.specs.filter((spec) => [spec.flag, ...spec.aliases].some((name) => name.includes(wanted)));
  if (matching.length > 0) return section(`Flags with "${wanted}"`, flagTable(matching, layout), layout);
  const beginning = groups.find((name) => squeezed(name).startsWith(squeezed(topic)));
  return beginning ? groupPage(subject, beginning, layout) : noMatch(subject, topic);
}

/** As flags are spelled: small letters, dashes for underscores, none in front. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll('_', '-').replace(/^-+/, '');
}

/** Groups are also found with dashes between their words: `scheduler_config` is `SchedulerConfig`. */
function squeezed(name: string): string {
  return normalized(name).replaceAll('-', '');
}

function firstPage(subject: HelpSubject, layout: HelpLayout): string {
  const common = subject.specs.filter((spec) => spec.isOnFirstPage);
  const positionals = subject.positionals.map(({name, description}) => [name, description] as const);
  const usage = [subject.command, ...subject.positionals.map(({name}) => `[${name}]`), '[FLAGS]'].join(' ');
  return [
    subject.summary,
    section('Usage', [`  ${usage}`], layout),
    ...(positionals.length > 0 ? [section('Arguments', table(positionals, layout.width), layout)] : []),
    section('Flags used most', flagTable(common, layout), layout),
    section('All flags by group', groupLines(subject.specs, layout), layout),
    section('More help', moreHelp(subject, layout), layout),
    section(
      'Examples',
      subject.examples.map((example) => `  ${example}`),
      layout,
    ),
  ].join('\n\n');
}

/** Parts of flag names for the example; the first that this command has. */
const exampleParts = ['max', 'template', 'down'];

function moreHelp({command, specs}: HelpSubject, layout: HelpLayout): string[] {
  const part = exampleParts.find((text) => specs.some(({flag}) => flag.includes(text))) ?? 'log';
  const rows = [
    [`${command} --help=all`, 'every flag'],
    [`${command} --help=${groupNames(specs)[0]}`, 'the flags of one group'],
    [`${command} --help=${part}`, `the flags whose name contains "${part}"`],
  ] as const;
  return table(rows, layout.width);
}

function allGroups(subject: HelpSubject, layout: HelpLayout): string {
  return groupNames(subject.specs)
    .map((group) => groupPage(subject, group, layout))
    .join('\n\n');
}

function groupPage({specs}: HelpSubject, group: string, layout: HelpLayout): string {
  return section(group, flagTable(inGroup(specs, group), layout), layout);
}

function noMatch({command, specs}: HelpSubject, topic: string): string {
  const groups = groupNames(specs);
  const names = [...groups, ...specs.map((spec) => spec.flag)];
  const nearest = nearestName(topic, names);
  return [
    `No group and no flag of \`${command}\` matches "${topic}".${nearest ? ` Did you mean ${nearest}?` : ''}`,
    `Groups: ${groups.join(', ')}`,
  ].join('\n');
}

function groupNames(specs: readonly OptionSpec[]): string[] {
  return [...new Set(specs.map((spec) => spec.group))];
}

function inGroup(specs: readonly OptionSpec[], group: string): OptionSpec[] {
  return specs.filter((spec) => spec.group === group);
}

/** One line per group: its name and as many of its flags as fit. */
function groupLines(specs: readonly OptionSpec[], {width}: HelpLayout): string[] {
  const groups = groupNames(specs);
  const left = Math.max(...groups.map((group) => group.length));
  const room = width - left - 4;
  return table(
    groups.map((group) => [group, asManyAsFit(inGroup(specs, group), room)] as const),
    width,
  );
}

function asManyAsFit(specs: readonly OptionSpec[], room: number): string {
  const names = specs.map((spec) => spec.flag);
  const whole = names.join(', ');
  if (whole.length <= room) return whole;
  const end = (shown: number) => `, … ${names.length - shown} more`;
  const shown =
    names.findLastIndex((_, index) => names.slice(0, index + 1).join(', ').length + end(index + 1).length <= room) + 1;
  return names.slice(0, Math.max(1, shown)).join(', ') + end(Math.max(1, shown));
}

function section(title: string, lines: readonly string[], {heading}: HelpLayout): string {
  return [heading(title.toUpperCase()), ...lines].join('\n');
}

function flagTable(specs: readonly OptionSpec[], layout: HelpLayout): string[] {
  const rows = specs.map((spec) => [flagUsage(spec), flagDescription(spec)] as const);
  return table(rows, layout.width);
}

function flagUsage(spec: OptionSpec): string {
  if (spec.kind === 'boolean') return spec.defaultValue === true ? `--no-${spec.flag}` : `--${spec.flag}`;
  return `--${spec.flag} ${spec.choices.length > 0 && spec.choices.length <= 4 ? spec.choices.join('|') : spec.valueName}`;
}

function flagDescription(spec: OptionSpec): string {
  const isSwitchedOff = spec.kind === 'boolean' && spec.defaultValue === true;
  const choices = spec.choices.length > 4 ? ` (${spec.choices.join(', ')})` : '';
  const description = isSwitchedOff ? `Do not: ${lowerFirst(spec.description)}` : spec.description;
  const notes = [defaultNote(spec), `env: ${spec.env.join(', ')}`].filter((note) => note !== null);
  const also = spec.aliases.length > 0 ? `; also ${spec.aliases.map(spelled).join(', ')}` : '';
  return `${description}${choices}${also} [${notes.join('; ')}]`;
}

/** A single letter has a single dash. */
function spelled(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function defaultNote({defaultValue, isFromModel}: OptionSpec): string | null {
  if (isFromModel) return 'default: from the model';
  // A switch is shown as the flag that changes its default.
  if (defaultValue === null || typeof defaultValue === 'boolean' || defaultValue === '') return null;
  if (Array.isArray(defaultValue) && defaultValue.length === 0) return null;
  return `default: ${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}`;
}

/** Two columns; a left cell that is too long gets a line of its own. */
function table(rows: readonly (readonly [string, string])[], width: number): string[] {
  const longest = Math.max(...rows.map(([left]) => left.length));
  const left = Math.min(longest, Math.floor(width * 0.42));
  return rows.flatMap(([cell, text]) => tableRow(cell, text, left, width));
}

function tableRow(cell: string, text: string, left: number, width: number): string[] {
  const [first = '', ...others] = wrapWords(text, Math.max(20, width - left - 4));
  const indent = ' '.repeat(left + 4);
  const rest = others.map((line) => indent + line);
  if (cell.length > left) return [`  ${cell}`, indent + first, ...rest];
  return [`  ${cell.padEnd(left)}  ${first}`, ...rest];
}
