/**
 * `parlance render-template [model]`: the prompt that a model gets for a conversation, without weights and without an
 * engine. Options in, one call out; files, stdin and the terminal are touched here only.
 */
import {existsSync, fstatSync, statSync} from 'node:fs';
import {Args} from '@oclif/core';
import * as z from 'zod';
import {BaseCommand} from '../cli/base-command.ts';
import {errorLines} from '../cli/describe-error.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {readText} from '../cli/read-text.ts';
import {terminalOptionsSchema} from '../cli/terminal-options.ts';
import {UsageError} from '../core/errors.ts';
import {renderTemplateOptionsSchema} from '../render-template/options.ts';
import type {RunContext, RunOptions} from '../render-template/run.ts';

const schema = z.object({
  ...renderTemplateOptionsSchema.shape,
  ...terminalOptionsSchema.pick({config: true, showConfig: true, json: true, logLevel: true}).shape,
});

type Options = z.infer<typeof schema>;

const specs = optionSpecs(schema);

export default class RenderTemplate extends BaseCommand {
  static override summary = 'Show the prompt that a model gets for a conversation, without starting it';
  static override examples = [
    "parlance render-template -m 'user=Hello'",
    'parlance render-template ./my-model --messages request.json --tokens --spans',
    'parlance render-template --chat-template my.jinja --messages request.json --watch',
    'parlance render-template ./my-model --messages request.json --diff kwargs.enable_thinking=false',
    'parlance render-template --batch cases.jsonl > prompts.jsonl',
  ];
  static override args = {
    model: Args.string({
      description: 'A model folder or a template file; without it the embedded SmolLM2-135M-Instruct is taken',
      ignoreStdin: true,
    }),
  };
  static override optionSpecs = specs;
  static override positionalName = 'model';
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {positional, options, explained} = await this.resolveOptions(schema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    const {runRenderTemplate} = await import('../render-template/run.ts');
    const context = await this.createContext();
    const settings = {...options, model: positional, ...(await this.readPipe(options, context))};
    const render = () => runRenderTemplate(settings, context);
    if (options.watch) return this.watch(settings, context, render);
    process.exitCode = await render();
  }

  /** Piped text is the request when nothing else says what to render; an empty pipe says nothing. */
  private async readPipe(options: Options, context: RunContext): Promise<{messages?: string}> {
    if (!readsStdin(options)) return {};
    const piped = await context.readText('-');
    if (piped.trim() === '') return {};
    const {readText: readOther} = context;
    context.readText = async (name) => (name === '-' ? piped : readOther(name));
    return {messages: '-'};
  }

  private async createContext(): Promise<RunContext> {
    const {choosePalette} = await import('../render-template/paint.ts');
    const isTerminal = process.stdout.isTTY === true;
    return {
      readText,
      write: (text) => process.stdout.write(text),
      writeError: (line) => this.writeError(line),
      isTerminal,
      palette: choosePalette(process.env, isTerminal),
    };
  }

  /** Renders now and after every change of a file, until the person has enough. A mistake ends nothing. */
  private async watch(options: RunOptions, context: RunContext, render: () => Promise<number>): Promise<void> {
    const paths = watchedFiles(options);
    const {ownLines, watchFiles} = await import('../render-template/watch.ts');
    const ending = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
    const screen = ownLines(process.stdout, context);
    const renderAgain = async () => {
      screen.clear();
      await render().catch((error: unknown) => {
        for (const line of errorLines(error, {showsStack: false})) context.writeError(line);
      });
      context.writeError(`${new Date().toLocaleTimeString()}  watching ${paths.join(', ')}; Ctrl+C ends`);
    };
    await renderAgain();
    await watchFiles(paths, renderAgain, ending.signal);
  }
}

function readsStdin({messages, message, system, batch, list, watch}: Options): boolean {
  const isAsked = messages !== null || message.length > 0 || system !== null || batch !== null;
  return !isAsked && !list && !watch && process.stdin.isTTY !== true && hasPipe();
}

/** A terminal and `/dev/null` bring no text; programs that start this one give it a socket for a pipe. */
function hasPipe(): boolean {
  try {
    const stats = fstatSync(process.stdin.fd);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}

/** @throws UsageError when there is nothing to watch */
function watchedFiles({model, messages, tools, documents, chatTemplate, batch}: RunOptions): string[] {
  const names = [model, messages, tools, documents, chatTemplate, batch];
  const isFile = (name: string | null): name is string => name !== null && existsSync(name) && statSync(name).isFile();
  const paths = names.filter(isFile);
  if (paths.length > 0) return paths;
  throw new UsageError('--watch needs a file to watch', {hint: 'give --messages FILE or --chat-template FILE'});
}
