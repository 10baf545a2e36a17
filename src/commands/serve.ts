/**
 * `parlance serve [model]`: options in, one running server out. Everything a person reads on the way is written here or
 * in `cli`; the work is done by `startServer`.
 */
import {access, constants, rm, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {Args} from '@oclif/core';
import * as z from 'zod';
import {BaseCommand} from '../cli/base-command.ts';
import {createLogger} from '../cli/create-logger.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {curlExample, listeningLine, loadedLine, type ReadyFacts, readyJson, readyLine} from '../cli/ready-report.ts';
import {exitOnSignals, waitForEnd} from '../cli/server-lifetime.ts';
import {nonDefaultOptions, type ResolvedOption} from '../cli/show-config.ts';
import {refuseSwallowedModel} from '../cli/swallowed-model.ts';
import {serveTerminalOptionsSchema} from '../cli/terminal-options.ts';
import {createTerminalOutput, type TerminalOutput} from '../cli/terminal-output.ts';
import {tuneGarbageCollection} from '../cli/tune-garbage-collection.ts';
import {deploymentOptionsSchema} from '../core/config/deployment-options.ts';
import {engineOptionsSchema} from '../core/config/engine-config.ts';
import {modelSourceOptionsSchema} from '../core/config/model-source-options.ts';
import {UsageError} from '../core/errors.ts';
import {writeFault} from '../core/util/file-fault.ts';
import type {Logger} from '../core/util/logger.ts';
import {serverOptionsSchema} from '../server/server-config.ts';
import type {RunningServer} from '../server/start-server.ts';

const serveOptionsSchema = z.object({
  ...serverOptionsSchema.shape,
  ...modelSourceOptionsSchema.shape,
  ...engineOptionsSchema.shape,
  ...deploymentOptionsSchema.shape,
  ...serveTerminalOptionsSchema.shape,
});

type ServeCommandOptions = z.infer<typeof serveOptionsSchema>;

const specs = optionSpecs(serveOptionsSchema);

export default class Serve extends BaseCommand {
  static override summary = 'Serve a model through an HTTP API that is compatible with OpenAI and vLLM';
  static override examples = [
    'parlance serve',
    'parlance serve ./my-model --port 9000 --api-key secret',
    'parlance serve Qwen/Qwen3-0.6B',
    'parlance serve unsloth/Qwen3-0.6B-GGUF:Q8_0',
    'parlance serve model.gguf --config server.yaml --max-model-len 4k',
  ];
  static override args = {
    model: Args.string({
      description:
        'A .gguf file, a model folder, or an id on the Hugging Face Hub (owner/name, owner/name:Q8_0); without it the embedded SmolLM2-135M-Instruct is served',
      ignoreStdin: true,
    }),
  };
  static override optionSpecs = specs;
  static override positionalName = 'model';
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {positional: model, options, explained} = await this.resolveOptions(serveOptionsSchema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    if (model === null) refuseSwallowedModel(specs, options);
    tuneGarbageCollection();
    const {output, logger} = await openTerminal(options);
    this.announceStart(logger, options, explained);
    if (options.readyFile !== null) await prepareReadyFile(options.readyFile);
    const server = await this.start(model, options, output, logger);
    await this.announceReady(server, options, logger);
    const isTerminal = process.stdin.isTTY === true;
    const exitCode = await waitForEnd(server, {logger, isTerminal, process});
    if (options.readyFile !== null) await rm(options.readyFile, {force: true});
    this.exit(exitCode);
  }

  private announceStart(logger: Logger, options: ServeCommandOptions, explained: ResolvedOption[]): void {
    const given = nonDefaultOptions(explained);
    logger.info({}, `Parlance ${this.config.version} starts; non-default args: ${JSON.stringify(given)}`);
    if (options.uds === null && !isLoopback(options.host) && options.apiKey.length === 0) {
      logger.warn({}, `--host ${options.host} opens the server to the network, and no --api-key protects it`);
    }
  }

  private async start(model: string | null, options: ServeCommandOptions, output: TerminalOutput, logger: Logger) {
    const {startServer} = await import('../server/start-server.ts');
    const source = modelSourceOptionsSchema.parse(options);
    const server = serverOptionsSchema.parse(options);
    const engine = engineOptionsSchema.parse(options);
    const deployment = deploymentOptionsSchema.parse(options);
    const release = exitOnSignals(process, output.finishProgress);
    try {
      return await startServer({model, source, server, engine, deployment}, {reporter: output, logger});
    } finally {
      release();
      output.finishProgress();
    }
  }

  /** The line on stdout comes last: who waits for it finds everything else in place. */
  private async announceReady(server: RunningServer, options: ServeCommandOptions, logger: Logger): Promise<void> {
    const facts = readyFacts(server, options);
    logger.info({}, loadedLine(facts));
    logger.info({}, readyLine(facts));
    if (options.readyFile !== null) await writeFile(options.readyFile, `${readyJson(facts)}\n`);
    if (options.json) return this.writeResult(readyJson(facts));
    const isTerminal = process.stdout.isTTY === true;
    if (!isTerminal && options.logFormat !== 'json') this.writeError(curlExample(facts));
    this.writeResult(listeningLine(facts));
    if (isTerminal) this.writeResult(`Try: ${curlExample(facts)}`);
  }
}

/** Log lines and progress on stderr. */
async function openTerminal(options: ServeCommandOptions): Promise<{output: TerminalOutput; logger: Logger}> {
  const stream = process.stderr;
  const output = await createTerminalOutput({
    stream,
    showsProgress: options.progress,
    writeLine: (line) => logger.info({}, line),
  });
  const isTerminal = stream.isTTY === true;
  const logger = createLogger({...options, isTerminal, hasColour: isTerminal, write: output.write});
  return {output, logger};
}

function readyFacts(server: RunningServer, options: ServeCommandOptions): ReadyFacts {
  return {
    url: server.url,
    modelName: server.modelName,
    modelInfo: server.llm.modelInfo,
    numEngines: server.llm.engineStates().length,
    seconds: process.uptime(),
    pid: process.pid,
    asksForKey: options.apiKey.length > 0,
  };
}

/**
 * Takes away what an earlier run left, which would call this one ready, and looks that the file can be written.
 * @throws UsageError
 */
async function prepareReadyFile(path: string): Promise<void> {
  try {
    await rm(path, {force: true});
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new UsageError(`--ready-file ${path} cannot be written: ${writeFault(cause)}`, {cause});
  }
}

function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || host.startsWith('127.');
}
