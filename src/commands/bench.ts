/**
 * `parlance bench`: options in, one call out. Everything about terminals and signals is here; the measurement is in
 * `src/bench`.
 */
import * as z from 'zod';
import {type BenchOptions, benchOptionsSchema} from '../bench/bench-options.ts';
import type {BenchTerminal} from '../bench/run/bench-terminal.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {terminalOptionsSchema} from '../cli/terminal-options.ts';
import {wrapWords} from '../core/util/wrap-words.ts';

const {config, showConfig, json, progress, logLevel} = terminalOptionsSchema.shape;
const benchCommandSchema = z.object({...benchOptionsSchema.shape, config, showConfig, json, progress, logLevel});
const specs = optionSpecs(benchCommandSchema);

const interruptedExitCodes = {SIGINT: 130, SIGTERM: 143};

export default class Bench extends BaseCommand {
  static override summary = 'Measure any OpenAI-compatible server under load: latencies, throughput, goodput';
  static override examples = [
    'parlance bench --concurrency 64',
    'parlance bench --url http://127.0.0.1:8000 --request-rate 10 --num-prompts 200 --goodput ttft:500 tpot:50',
    'parlance bench --url http://127.0.0.1:8000 --concurrency 1,4,16,64 --html report.html --save-result',
  ];
  static override optionSpecs = specs;
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {options, explained} = await this.resolveOptions(benchCommandSchema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    const {runBench} = await import('../bench/run/run-bench.ts');
    const benchOptions: BenchOptions = benchOptionsSchema.parse(options);
    const showsProgress = options.progress && !options.disableTqdm && !options.quiet;
    this.exit(await runBench(benchOptions, options, this.terminal(showsProgress)));
  }

  private terminal(showsProgress: boolean): BenchTerminal {
    return {
      note: (line) => this.writeNote(line),
      result: (line) => this.writeResult(line),
      columns: process.stdout.isTTY ? process.stdout.columns : null,
      progressStream: showsProgress ? process.stderr : null,
      interrupt: this.interruptSignal(),
      program: {path: process.argv[1], execArgv: process.execArgv},
      version: this.config.version,
    };
  }

  /** In a terminal broken between words. */
  private writeNote(line: string): void {
    const {isTTY, columns} = process.stderr;
    for (const part of isTTY ? wrapWords(line, columns) : [line]) this.writeError(part);
  }

  /** The first Ctrl-C ends the sending, a second one the process. */
  private interruptSignal(): AbortSignal {
    const controller = new AbortController();
    const onSignal = (signal: keyof typeof interruptedExitCodes) => {
      if (controller.signal.aborted) process.exit(interruptedExitCodes[signal]);
      controller.abort(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    return controller.signal;
  }
}
