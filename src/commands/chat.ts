/**
 * `parlance chat [model]`: options in, one call out. Streams, signals and exit codes are here; the talk is in `src/chat`.
 */
import {spawnSync} from 'node:child_process';
import {fstatSync} from 'node:fs';
import {text as readStream} from 'node:stream/consumers';
import {Args} from '@oclif/core';
import * as z from 'zod';
import type {ChatTerminal} from '../chat/chat-terminal.ts';
import {chatOptionsSchema} from '../chat/options.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {terminalOptionsSchema} from '../cli/terminal-options.ts';
import {UsageError} from '../core/errors.ts';
import {silentLogger} from '../core/util/logger.ts';

const {config, showConfig, json, progress, logLevel} = terminalOptionsSchema.shape;
const schema = z.object({...chatOptionsSchema.shape, config, showConfig, json, progress, logLevel});
const specs = optionSpecs(schema);

type Options = z.infer<typeof schema>;

const interruptedExitCode = 130;
/** Signals that came while another program ran are delivered by then. */
const lateSignalMs = 20;

export default class Chat extends BaseCommand {
  static override summary = 'Talk to a model in this machine or to any OpenAI-compatible server';
  static override examples = [
    'parlance chat',
    'parlance chat ./my-model --system-prompt "Answer in one sentence."',
    'parlance chat --url http://127.0.0.1:8000/v1 --tools safe',
    'parlance chat -q "Say hello"',
    'git diff | parlance chat -q "Write a commit message"',
    'parlance chat --continue',
  ];
  static override args = {
    model: Args.string({
      description:
        'A .gguf file, a model folder, or an id on the Hugging Face Hub; without it and without --url the embedded model answers',
      ignoreStdin: true,
    }),
  };
  static override optionSpecs = specs;
  static override positionalName = 'model';
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {positional: model, options, explained} = await this.resolveOptions(schema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    if (model !== null && this.argv.some((argument) => /^--url(=|$)/.test(argument))) {
      throw new UsageError('a model and --url exclude each other', {
        hint: 'leave the model out, or name it for the server with --model-name',
      });
    }
    const {runChat} = await import('../chat/run-chat.ts');
    const terminal = await this.openTerminal(options);
    const exitCode = await runChat({...options, model}, terminal);
    this.exit(terminal.interrupt.aborted ? interruptedExitCode : exitCode);
  }

  private async openTerminal(options: Options): Promise<ChatTerminal> {
    const loading = await openProgress(options);
    const interrupts = new Interrupts();
    return {
      stdin: process.stdin,
      stdout: process.stdout,
      write: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
      readPipe,
      logger: silentLogger,
      onProgress: loading.report,
      finishProgress: loading.finish,
      env: process.env,
      folder: process.cwd(),
      runProgram: (line, argv, input) => interrupts.ignoredWhile(() => runProgram(line, argv, input)),
      interrupt: interrupts.signal,
      version: this.config.version,
    };
  }
}

/** Bars on stderr where a person looks; a pipe stays quiet, because what counts is the answer. */
async function openProgress({progress, quick, tui}: Options) {
  const drawsScreen = tui && quick === null && process.stdin.isTTY === true;
  if (!progress || process.stderr.isTTY !== true || drawsScreen) return {report() {}, finish() {}};
  const {createTerminalOutput} = await import('../cli/terminal-output.ts');
  const output = await createTerminalOutput({stream: process.stderr, showsProgress: true, writeLine() {}});
  return {report: output.report as ChatTerminal['onProgress'], finish: output.finishProgress};
}

/** The first signal stops the answer, a second one the process. */
class Interrupts {
  readonly #controller = new AbortController();
  #isIgnored = false;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.#receive(signal));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ctrl-C in a program that has the terminal is meant for that one. It arrives here after the program has ended. */
  ignoredWhile<T>(run: () => T): T {
    this.#isIgnored = true;
    try {
      return run();
    } finally {
      setTimeout(() => (this.#isIgnored = false), lateSignalMs);
    }
  }

  #receive(signal: NodeJS.Signals): void {
    if (signal === 'SIGINT' && this.#isIgnored) return;
    if (this.signal.aborted) process.exit(interruptedExitCode);
    this.#controller.abort();
  }
}

function runProgram(line: string, argv: readonly string[], input: string | null): number {
  const {status, signal} = spawnSync('sh', ['-c', line, 'sh', ...argv], {
    stdio: [input === null ? 'inherit' : 'pipe', 'inherit', 'inherit'],
    ...(input !== null && {input}),
  });
  // The shell between ends by a Ctrl-C that its program has taken.
  return signal === 'SIGINT' ? 0 : (status ?? 1);
}

/** Only a pipe or a file brings text; under cron and test runners stdin is there but nobody writes. */
async function readPipe(): Promise<string | null> {
  if (process.stdin.isTTY === true || !hasPipe()) return null;
  return readStream(process.stdin);
}

function hasPipe(): boolean {
  try {
    const stats = fstatSync(process.stdin.fd);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}
