/**
 * `parlance models [action] [model]`: what is downloaded, what a model is, and taking it away again. Options in, one call
 * out; questions and progress are shown here.
 */
import {createInterface} from 'node:readline/promises';
import {Args} from '@oclif/core';
import * as z from 'zod';
import {BaseCommand} from '../cli/base-command.ts';
import {createLogger} from '../cli/create-logger.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {terminalOptionsSchema} from '../cli/terminal-options.ts';
import {createTerminalOutput} from '../cli/terminal-output.ts';
import {UsageError} from '../core/errors.ts';
import {modelActions, modelsOptionsSchema} from '../models/options.ts';
import type {ModelAction, ModelsContext} from '../models/run-models.ts';

const schema = z.object({...modelsOptionsSchema.shape, ...terminalOptionsSchema.shape});

type Options = z.infer<typeof schema>;

const specs = optionSpecs(schema);

export default class Models extends BaseCommand {
  static override summary = 'List, inspect, download and remove models';
  static override examples = [
    'parlance models',
    'parlance models inspect Qwen/Qwen3-0.6B',
    'parlance models inspect ./model.gguf --json',
    'parlance models pull unsloth/Qwen3-0.6B-GGUF:Q8_0',
    'parlance models remove unsloth/Qwen3-0.6B-GGUF',
  ];
  static override args = {
    action: Args.string({description: `${modelActions.join(', ')}; without it the list`, ignoreStdin: true}),
    model: Args.string({
      description: 'An id on the Hub, or for inspect any model; without it the embedded one is inspected',
      ignoreStdin: true,
    }),
  };
  static override optionSpecs = specs;
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {options, explained, args} = await this.resolveOptions(schema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    const action = toAction(args.action ?? 'list');
    const {runModels} = await import('../models/run-models.ts');
    const stopping = new AbortController();
    const onSignal = () => stopping.abort();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
    const {context, finish} = await this.openTerminal(options, stopping.signal);
    try {
      await runModels({...options, action, model: args.model ?? null}, context);
    } catch (error) {
      if (stopping.signal.aborted) this.exit(130);
      throw error;
    } finally {
      finish();
    }
  }

  private async openTerminal(options: Options, signal: AbortSignal) {
    const stream = process.stderr;
    const isTerminal = stream.isTTY === true;
    const output = await createTerminalOutput({
      stream,
      showsProgress: options.progress,
      writeLine: (line) => this.writeError(line),
    });
    const logFormat = options.logFormat === 'auto' ? 'text' : options.logFormat;
    const logger = createLogger({...options, logFormat, isTerminal, hasColour: isTerminal, write: output.write});
    const context: ModelsContext = {
      write: (line) => this.writeResult(line),
      logger,
      signal,
      onProgress: (progress) => output.report({stage: 'download', ...progress}),
      confirm: process.stdin.isTTY === true && !options.json ? ask : null,
    };
    return {context, finish: output.finishProgress};
  }
}

/** @throws UsageError */
function toAction(name: string): ModelAction {
  const known = modelActions.find((action) => action === name);
  if (known) return known;
  throw new UsageError(`parlance models has no action ${name}`, {hint: `choose one of ${modelActions.join(', ')}`});
}

async function ask(question: string): Promise<boolean> {
  const reader = createInterface({input: process.stdin, output: process.stderr});
  try {
    return /^y(es)?$/i.test((await reader.question(question)).trim());
  } finally {
    reader.close();
  }
}
