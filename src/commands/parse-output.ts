/**
 * `parlance parse-output [file]`: what the parsers of the server make of a model's raw output, without a model. Options
 * in, one call out; files, stdin and the terminal are touched here only.
 */
import {Args} from '@oclif/core';
import * as z from 'zod';
import {BaseCommand} from '../cli/base-command.ts';
import {createLogger} from '../cli/create-logger.ts';
import {flagsFromSpecs} from '../cli/flags-from-schema.ts';
import {headingStyle} from '../cli/heading-style.ts';
import {optionSpecs} from '../cli/option-spec.ts';
import {readText} from '../cli/read-text.ts';
import {terminalOptionsSchema} from '../cli/terminal-options.ts';
import {parseOutputOptionsSchema} from '../parse-output/options.ts';

const schema = z.object({
  ...parseOutputOptionsSchema.shape,
  ...terminalOptionsSchema.pick({config: true, showConfig: true, json: true, logLevel: true}).shape,
});

type Options = z.infer<typeof schema>;

const specs = optionSpecs(schema);

export default class ParseOutput extends BaseCommand {
  static override summary = 'Show the thoughts, the text and the tool calls in the raw output of a model';
  static override examples = [
    'parlance parse-output answer.txt --tool-call-parser hermes --tools tools.json',
    'parlance parse-output answer.txt --reasoning-parser qwen3 --stream',
    'cat answer.txt | parlance parse-output --tool-call-parser auto --chat-template model/chat_template.jinja --json',
    'parlance parse-output --batch outputs.jsonl > parsed.jsonl',
  ];
  static override args = {
    file: Args.string({
      description: 'File with the output, special tokens as text; without it, or with -, stdin is read',
      ignoreStdin: true,
    }),
  };
  static override optionSpecs = specs;
  static override positionalName = 'file';
  static override flags = flagsFromSpecs(specs);

  async run(): Promise<void> {
    const {positional, options, explained} = await this.resolveOptions(schema);
    if (options.showConfig) return this.printConfig(explained, options.json);
    const {runParseOutput} = await import('../parse-output/run.ts');
    await runParseOutput(
      {...options, file: positional ?? (process.stdin.isTTY ? null : '-')},
      {readText, write: (line) => this.writeResult(line), heading: headingStyle(), logger: this.openLog(options)},
    );
  }

  private openLog({logLevel}: Options) {
    const write = (line: string) => process.stderr.write(line);
    return createLogger({logLevel, logFormat: 'text', isTerminal: false, hasColour: false, write});
  }
}
