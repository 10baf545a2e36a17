/**
 * What all commands share: options from command line, environment and file; `--show-config`; errors as one line with an
 * exit code; warnings on stderr. A command lists its options in a schema and calls one function with the result.
 */
import {Command} from '@oclif/core';
import type * as z from 'zod';
import {readConfigFile} from './config-file.ts';
import {describeError, errorJson, errorLines} from './describe-error.ts';
import {optionsFromFlags, type RawFlags} from './flags-from-schema.ts';
import {findConfigPath, type NormalizedArgv, normalizeArgv} from './normalize-argv.ts';
import type {OptionSpec} from './option-spec.ts';
import {configJson, configTable, type ResolvedOption, resolvedOptions} from './show-config.ts';

/** The options of one call, with everything that is needed to explain them. */
export interface Resolved<Options> {
  /** The positional argument; null when there is none. */
  positional: string | null;
  /** All positional arguments by name. */
  args: Readonly<Record<string, string | undefined>>;
  options: Options;
  /** The positional first, then every option of the schema. */
  explained: ResolvedOption[];
}

export abstract class BaseCommand extends Command {
  /** All options; part of the manifest, so that help needs no command module. */
  static optionSpecs: OptionSpec[] = [];
  /** The positional that may also stand in the configuration file. */
  static positionalName: string | null = null;

  /** Reads and checks everything that was given, and prints the warnings. */
  protected async resolveOptions<Schema extends z.ZodObject>(schema: Schema): Promise<Resolved<z.infer<Schema>>> {
    const {optionSpecs, positionalName} = this.ctor as typeof BaseCommand;
    const {argv, warnings, origins, labels} = await this.normalize(optionSpecs, positionalName);
    for (const warning of warnings) this.writeError(`Warning: ${warning}`);
    const {args, flags} = await this.parse(this.ctor, argv);
    const options = optionsFromFlags(schema, optionSpecs, flags as RawFlags, labels);
    const positional = positionalName === null ? null : ((args[positionalName] as string | undefined) ?? null);
    const explained = resolvedOptions(optionSpecs, options, origins);
    if (positionalName === null) return {positional, args, options, explained};
    const first = {name: positionalName, value: positional, origin: origins[positionalName]!};
    return {positional, args, options, explained: [first, ...explained]};
  }

  private async normalize(specs: OptionSpec[], positionalName: string | null): Promise<NormalizedArgv> {
    const configPath = findConfigPath(this.argv, process.env);
    const configEntries = configPath === null ? [] : await readConfigFile(configPath);
    return normalizeArgv({argv: this.argv, specs, env: process.env, configEntries, positionalName});
  }

  protected printConfig(explained: readonly ResolvedOption[], asJson: boolean): void {
    const lines = asJson ? [configJson(explained)] : configTable(explained);
    for (const line of lines) this.writeResult(line);
  }

  /** A line of the result, on stdout. */
  protected writeResult(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** A line for the person at the terminal, on stderr. */
  protected writeError(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  override async init(): Promise<void> {
    await super.init();
    process.stdout.on('error', endQuietlyWhenReaderLeft);
  }

  /** Every error ends here: lines on stderr, JSON on stdout when asked for, and the exit code. */
  override async catch(error: Error): Promise<never> {
    if (isExit(error)) throw error;
    const showsStack = this.wasGiven('--log-level=debug') || this.wasGiven('--log-level', 'debug');
    for (const line of errorLines(error, {showsStack})) this.writeError(line);
    if (this.wasGiven('--json')) this.writeResult(errorJson(error));
    return this.exit(describeError(error).exitCode);
  }

  /** Looks at the raw arguments, because the error may be one of parsing them. */
  private wasGiven(flag: string, value?: string): boolean {
    const index = this.argv.indexOf(flag);
    return index !== -1 && (value === undefined || this.argv[index + 1] === value);
  }
}

/** `this.exit()` works by an error of oclif's. */
function isExit(error: unknown): boolean {
  return (error as {code?: string}).code === 'EEXIT';
}

/** `parlance … | head`: nobody reads any more, which is no failure. */
function endQuietlyWhenReaderLeft(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
}
