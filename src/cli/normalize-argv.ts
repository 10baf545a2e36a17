/**
 * Turns what a person typed, the environment and a configuration file into one plain argument list that oclif parses
 * without surprises: one `--flag=value` per value, each flag once, long names only. Pure: nothing is read or printed.
 *
 * Precedence: command line, then environment, then file. What is still absent is filled in by the options schema.
 */
import {UsageError} from '../core/errors.ts';
import {nearestName} from '../core/util/nearest-name.ts';
import {isPlainObject} from '../core/util/parse-json.ts';
import {invalidValue, type OptionSpec} from './option-spec.ts';
import {otherNames} from './other-names.ts';
import {expandSuffix} from './scaled-integer.ts';
import {shortVllmFlags, type VllmFlag, vllmFlags} from './vllm-flags.ts';

/** One top-level entry of a configuration file. */
export interface ConfigEntry {
  /** As written: dashes and underscores are equal. */
  key: string;
  value: unknown;
  /** Place for messages, e.g. `server.yaml:3`. */
  place: string;
}

export interface NormalizeInput {
  argv: readonly string[];
  specs: readonly OptionSpec[];
  env: Readonly<Record<string, string | undefined>>;
  configEntries: readonly ConfigEntry[];
  /** Name of the positional that may also be given as a flag or in the file, e.g. `model`; null for none. */
  positionalName: string | null;
}

export type Origin = 'flag' | 'env' | 'file' | 'model' | 'default';

export interface NormalizedArgv {
  argv: string[];
  /** One line each, for stderr. */
  warnings: string[];
  /** Where the value of each flag comes from; `positionalName` included. */
  origins: Record<string, Origin>;
  /** How to name each given flag in a message: `--port`, `PARLANCE_PORT`, `port (server.yaml:1)`. */
  labels: Record<string, string>;
}

/** The values of one flag; `['true']` or `['false']` for booleans. */
interface Setting {
  values: string[];
  origin: Origin;
  label: string;
}

/** A change to a JSON flag by a dotted name: `--flag.a.b+ value`. */
interface DottedChange {
  path: string[];
  appends: boolean;
  value: unknown;
}

/** What has been collected so far. */
interface Collected extends NormalizeInput {
  byName: ReadonlyMap<string, OptionSpec>;
  settings: Map<string, Setting>;
  dotted: Map<string, DottedChange[]>;
  positionals: string[];
  positionalOrigin: Origin;
  warnings: string[];
}

/** @throws UsageError for unknown flags, missing values and values that no flag can have */
export function normalizeArgv(input: NormalizeInput): NormalizedArgv {
  const collected: Collected = {
    ...input,
    byName: specsByName(input.specs),
    settings: new Map(),
    dotted: new Map(),
    positionals: [],
    positionalOrigin: 'flag',
    warnings: [],
  };
  readCommandLine(collected);
  mergeDotted(collected);
  readEnvironment(collected);
  for (const entry of input.configEntries) readConfigEntry(collected, entry);
  return {
    argv: emit(collected),
    warnings: collected.warnings,
    origins: originsOf(collected),
    labels: Object.fromEntries([...collected.settings].map(([flag, {label}]) => [flag, label])),
  };
}

/** The file named by `--config` or its environment variable; null when there is none. The last one wins. */
export function findConfigPath(argv: readonly string[], env: NormalizeInput['env']): string | null {
  const beforeDashes = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const index = beforeDashes.findLastIndex((argument) => /^--config(=|$)/.test(argument));
  if (index === -1) return env.PARLANCE_CONFIG || null;
  const argument = beforeDashes[index]!;
  return (argument.includes('=') ? argument.slice('--config='.length) : beforeDashes[index + 1]) || null;
}

function specsByName(specs: readonly OptionSpec[]): Map<string, OptionSpec> {
  return new Map(specs.flatMap((spec) => [spec.flag, ...spec.aliases].map((name) => [name, spec] as const)));
}

// ---- the command line

/** Consumes arguments from the front of `rest` until none is left. */
function readCommandLine(collected: Collected): void {
  const rest = [...collected.argv];
  while (rest.length > 0) {
    const argument = rest.shift()!;
    if (argument === '--') collected.positionals.push(...rest.splice(0));
    else if (argument.startsWith('--')) readLongFlag(collected, argument, rest);
    else if (/^-[A-Za-z]/.test(argument)) readShortFlag(collected, argument, rest);
    else collected.positionals.push(argument);
  }
}

function readLongFlag(collected: Collected, argument: string, rest: string[]): void {
  const {name, path, inline} = splitArgument(argument);
  const spec = collected.byName.get(name);
  if (spec && path !== null) return readDotted(collected, spec, path, inline, rest);
  if (spec) return readKnownFlag(collected, spec, inline, rest);
  if (name === collected.positionalName) return readPositionalFlag(collected, name, inline, rest);
  const negated = negatedSpec(collected, name);
  if (negated && inline !== null) throw new UsageError(`--${name} takes no value`);
  if (negated) return setOnCommandLine(collected, negated.spec, [String(negated.value)]);
  readForeignFlag(collected, name, inline, rest);
}

/** `--max_model_len.x=1` is the name `max-model-len`, the path `x` and the inline value `1`. */
function splitArgument(argument: string): {name: string; path: string | null; inline: string | null} {
  const [, head, inline] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(argument)!;
  const [name, ...path] = head!.split('.');
  return {
    name: name!.replaceAll('_', '-'),
    path: path.length > 0 ? path.join('.') : null,
    inline: inline ?? null,
  };
}

function readKnownFlag(collected: Collected, spec: OptionSpec, inline: string | null, rest: string[]): void {
  if (spec.kind === 'boolean') return setOnCommandLine(collected, spec, [booleanText(`--${spec.flag}`, inline)]);
  if (spec.kind === 'list') return setOnCommandLine(collected, spec, takeList(`--${spec.flag}`, inline, rest));
  const isBare = inline === null && (rest[0] === undefined || looksLikeFlag(rest[0]));
  const text = isBare && spec.bareValue !== null ? spec.bareValue : takeValue(`--${spec.flag}`, inline, rest);
  setOnCommandLine(collected, spec, [normalizeValue(spec, `--${spec.flag}`, text)]);
}

function setOnCommandLine(collected: Collected, spec: OptionSpec, values: string[]): void {
  const earlier = collected.settings.get(spec.flag)?.values;
  const isList = spec.kind === 'list';
  if (earlier && !isList && earlier[0] !== values[0]) {
    collected.warnings.push(`--${spec.flag} is given more than once, the last one counts`);
  }
  const all = earlier && isList ? [...earlier, ...values] : values;
  collected.settings.set(spec.flag, {values: all, origin: 'flag', label: `--${spec.flag}`});
}

function readPositionalFlag(collected: Collected, name: string, inline: string | null, rest: string[]): void {
  const value = takeValue(`--${name}`, inline, rest);
  collected.warnings.push(`--${name} works, but the ${name} is better given without a flag: parlance serve ${value}`);
  collected.positionals.push(value);
}

/** `--no-x` of a boolean `x`, and the pairs `--enable-x` / `--disable-x`. */
function negatedSpec(collected: Collected, name: string): {spec: OptionSpec; value: boolean} | null {
  const turned = opposites.map(([from, to]) => (name.startsWith(from) ? to + name.slice(from.length) : null));
  const spec = turned.map((candidate) => collected.byName.get(candidate ?? '')).find((found) => found);
  return spec?.kind === 'boolean' ? {spec, value: false} : null;
}

const opposites = [
  ['no-', ''],
  ['enable-', 'disable-'],
  ['disable-', 'enable-'],
] as const;

function readShortFlag(collected: Collected, argument: string, rest: string[]): void {
  const [, letters, joined] = /^-([A-Za-z]+)=?([\s\S]*)$/.exec(argument)!;
  // A long name with one dash may as well be a letter with its value, so it is not guessed.
  const isLetter = letters!.length === 1 && collected.byName.has(letters!);
  const name = isLetter ? letters : shortVllmFlags.get(letters!);
  if (name === undefined) throw unknownFlag(collected, argument, letters!);
  readLongFlag(collected, joined === '' ? `--${name}` : `--${name}=${joined}`, rest);
}

/** A flag of vLLM that is none of ours, or an unknown one. */
function readForeignFlag(collected: Collected, name: string, inline: string | null, rest: string[]): void {
  const flag = vllmFlags.get(name) ?? negatedVllmFlag(name);
  if (!flag || flag.policy === 'supported') throw unknownFlag(collected, `--${name}`, name);
  applyForeignPolicy(collected, `--${name}`, flag, foreignValues(name, flag, inline, rest));
}

function negatedVllmFlag(name: string): VllmFlag | undefined {
  const positive = vllmFlags.get(name.replace(/^no-/, ''));
  return positive?.takes === 'nothing' ? {...positive, policy: 'ignored'} : undefined;
}

function foreignValues(name: string, flag: VllmFlag, inline: string | null, rest: string[]): string[] {
  if (flag.takes === 'nothing') return [];
  if (flag.takes === 'list') return takeList(`--${name}`, inline, rest);
  return [takeValue(`--${name}`, inline, rest)];
}

function applyForeignPolicy(collected: Collected, label: string, flag: VllmFlag, values: string[]): void {
  const shown = [label, ...values].join(' ');
  if (values.length > 0 && values.every((value) => flag.neutral.includes(value))) return;
  if (flag.policy === 'ignored') {
    collected.warnings.push(`${shown}: known from vLLM, no effect here`);
    return;
  }
  const hint = flag.neutral.length > 0 ? `leave it out, or give the neutral value ${flag.neutral[0]}` : 'leave it out';
  throw new UsageError(`${shown}: known from vLLM, not supported here: ${flag.reason}`, {hint});
}

function unknownFlag(collected: Collected, shown: string, name: string): UsageError {
  const elsewhere = otherNames.get(name);
  const isHere = elsewhere !== undefined && collected.byName.has(elsewhere);
  const nearest = isHere ? elsewhere : nearestName(name, [...collected.byName.keys(), ...vllmFlags.keys()]);
  const hint = nearest === null ? '`--help=all` lists all flags' : `did you mean --${nearest}?`;
  return new UsageError(`Unknown flag ${shown}`, {hint});
}

// ---- values

function takeValue(label: string, inline: string | null, rest: string[]): string {
  if (inline !== null) return inline;
  const next = rest[0];
  if (next === undefined || looksLikeFlag(next)) {
    throw new UsageError(`${label} needs a value`, {hint: `a value that begins with a dash is written ${label}=VALUE`});
  }
  return rest.shift()!;
}

/** All values up to the next argument that begins with a dash. */
function takeList(label: string, inline: string | null, rest: string[]): string[] {
  if (inline !== null) return [inline];
  const values = [takeValue(label, null, rest)];
  while (rest.length > 0 && !rest[0]!.startsWith('-')) values.push(rest.shift()!);
  return values;
}

/** A dash alone (stdin) and negative numbers are values. */
function looksLikeFlag(argument: string): boolean {
  return /^-[^\d.]/.test(argument);
}

function normalizeValue(spec: OptionSpec, label: string, text: string): string {
  if (spec.kind === 'choice') return choiceText(spec, label, text);
  if (spec.kind !== 'integer') return text;
  if (spec.isNullable && text === '-1') return 'auto';
  return expandSuffix(label, text);
}

/** Upper and lower case are equal, as in `VLLM_LOGGING_LEVEL=INFO`. */
function choiceText(spec: OptionSpec, label: string, text: string): string {
  const choice = spec.choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (choice === undefined) throw invalidValue(spec, label, text);
  return choice;
}

const booleanTexts: Readonly<Record<string, string>> = {
  true: 'true',
  '1': 'true',
  yes: 'true',
  on: 'true',
  false: 'false',
  '0': 'false',
  no: 'false',
  off: 'false',
};

function booleanText(label: string, text: string | null): string {
  const value = text === null ? 'true' : booleanTexts[text.toLowerCase()];
  if (value === undefined) throw new UsageError(`${label} cannot be ${text}\nallowed: true or false`);
  return value;
}

// ---- dotted JSON flags

function readDotted(collected: Collected, spec: OptionSpec, path: string, inline: string | null, rest: string[]): void {
  const label = `--${spec.flag}.${path}`;
  if (spec.kind !== 'json') throw new UsageError(`${label}: --${spec.flag} takes no JSON, so it has no parts`);
  const keys = path.replace(/\+$/, '').split('.');
  if (keys.some((key) => key === '' || key === '__proto__'))
    throw new UsageError(`${label} has an empty or forbidden part`);
  const text = takeValue(label, inline, rest);
  const appends = path.endsWith('+');
  const value = appends ? text.split(',').map(looseValue) : looseValue(text);
  const changes = collected.dotted.get(spec.flag) ?? [];
  collected.dotted.set(spec.flag, [...changes, {path: keys, appends, value}]);
}

/** JSON when the text is JSON, a number when it is one with a suffix, else the text. */
function looseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const expanded = /^-?[\d.]+[kmgtKMGT]$/.test(text) ? expandSuffix('value', text) : text;
    return expanded === text ? text : Number(expanded);
  }
}

/** Applies the dotted changes to the JSON that was given for the same flag, or to an empty object. */
function mergeDotted(collected: Collected): void {
  for (const [flag, changes] of collected.dotted) {
    const base = objectOf(flag, collected.settings.get(flag)?.values[0] ?? '{}');
    for (const change of changes) applyChange(base, change);
    collected.settings.set(flag, {values: [JSON.stringify(base)], origin: 'flag', label: `--${flag}`});
  }
}

type JsonObject = Record<string, unknown>;

function objectOf(flag: string, text: string): JsonObject {
  const value = looseValue(text);
  if (!isPlainObject(value))
    throw new UsageError(`--${flag} ${text} is no JSON object, so --${flag}.name cannot change it`);
  return value;
}

function applyChange(root: JsonObject, {path, appends, value}: DottedChange): void {
  let target = root;
  for (const key of path.slice(0, -1)) {
    if (!isPlainObject(target[key])) target[key] = {};
    target = target[key] as JsonObject;
  }
  const last = path.at(-1)!;
  const existing = target[last];
  target[last] = appends && Array.isArray(existing) ? [...existing, ...(value as unknown[])] : value;
}

// ---- environment and file

function readEnvironment(collected: Collected): void {
  for (const spec of collected.specs) {
    const name = spec.env.find((variable) => collected.env[variable]);
    if (name === undefined || collected.settings.has(spec.flag)) continue;
    const values = environmentValues(spec, name, collected.env[name]!);
    collected.settings.set(spec.flag, {values, origin: 'env', label: name});
  }
}

/** A list is a JSON list or one value. */
function environmentValues(spec: OptionSpec, name: string, text: string): string[] {
  if (spec.kind === 'boolean') return [booleanText(name, text)];
  if (spec.kind !== 'list') return [normalizeValue(spec, name, text)];
  const value = text.trimStart().startsWith('[') ? looseValue(text) : text;
  return Array.isArray(value) ? value.map(String) : [text];
}

function readConfigEntry(collected: Collected, entry: ConfigEntry): void {
  const name = entry.key.replaceAll('_', '-');
  if (name === collected.positionalName) return readConfigPositional(collected, name, entry);
  const negated = negatedSpec(collected, name);
  const spec = collected.byName.get(name) ?? negated?.spec;
  if (!spec) return readForeignEntry(collected, name, entry);
  if (collected.settings.has(spec.flag) || entry.value === null) return;
  const isNegated = !collected.byName.has(name);
  const values = isNegated ? [String(entry.value !== true)] : configValues(spec, entry);
  collected.settings.set(spec.flag, {values, origin: 'file', label: configLabel(entry)});
}

function readConfigPositional(collected: Collected, name: string, entry: ConfigEntry): void {
  if (collected.positionals.length > 0) {
    collected.warnings.push(`the ${name} of the command line counts, not ${entry.value} (${entry.place})`);
    return;
  }
  collected.positionals.push(String(entry.value));
  collected.positionalOrigin = 'file';
}

function readForeignEntry(collected: Collected, name: string, entry: ConfigEntry): void {
  const flag = vllmFlags.get(name);
  if (!flag || flag.policy === 'supported') {
    const {message, hint} = unknownFlag(collected, entry.key, name);
    throw new UsageError(`${message.replace('flag', 'key')} (${entry.place})`, {hint: hint?.replace('--', '') ?? ''});
  }
  if (entry.value === false || entry.value === null) return;
  const values = flag.takes === 'nothing' ? [] : [entry.value].flat().map(configText);
  applyForeignPolicy(collected, `${name} (${entry.place})`, flag, values);
}

function configLabel({key, place}: ConfigEntry): string {
  return `${key} (${place})`;
}

function configValues(spec: OptionSpec, entry: ConfigEntry): string[] {
  const {value} = entry;
  const label = configLabel(entry);
  if (spec.kind === 'boolean') return [booleanText(label, String(value))];
  if (spec.kind === 'list') return [value].flat().map(configText);
  if (spec.kind === 'json') return [typeof value === 'string' ? value : JSON.stringify(value)];
  if (typeof value === 'object') throw new UsageError(`${label} takes one value, not a list or a map`);
  return [normalizeValue(spec, label, String(value))];
}

function configText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// ---- the result

function emit({specs, settings, positionals}: Collected): string[] {
  const flags = specs.flatMap((spec) => emitFlag(spec, settings.get(spec.flag)?.values ?? []));
  const needsDashes = positionals.some((positional) => positional.startsWith('-'));
  return needsDashes ? [...flags, '--', ...positionals] : [...positionals, ...flags];
}

function emitFlag(spec: OptionSpec, values: string[]): string[] {
  if (spec.kind === 'boolean')
    return values.map((value) => (value === 'true' ? `--${spec.flag}` : `--no-${spec.flag}`));
  return values.map((value) => `--${spec.flag}=${value}`);
}

function originsOf({
  specs,
  settings,
  positionals,
  positionalName,
  positionalOrigin,
}: Collected): Record<string, Origin> {
  const origins = specs.map((spec) => [spec.flag, settings.get(spec.flag)?.origin ?? fallbackOrigin(spec)] as const);
  const positional = positionals.length > 0 ? positionalOrigin : 'default';
  return Object.fromEntries(positionalName === null ? origins : [[positionalName, positional], ...origins]);
}

function fallbackOrigin(spec: OptionSpec): Origin {
  return spec.isFromModel ? 'model' : 'default';
}
