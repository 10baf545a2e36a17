/**
 * The help class that oclif loads: our layout for commands with option specs, oclif's own for the rest. `bin/run.js`
 * adds `--help` where it sees `--help=TOPIC`, because oclif knows only the bare flag; the topic is read here.
 */
import {type Command, Help} from '@oclif/core';
import {headingStyle} from './heading-style.ts';
import {commandHelp, type HelpLayout, type HelpSubject, programHelp} from './help-text.ts';
import type {OptionSpec} from './option-spec.ts';

const defaultWidth = 80;

export default class ParlanceHelp extends Help {
  private topic: string | null = null;

  override async showHelp(argv: string[]): Promise<void> {
    const topics = argv.filter((argument) => argument.startsWith('--help='));
    this.topic = topics.at(-1)?.slice('--help='.length) ?? null;
    await super.showHelp(argv.filter((argument) => !topics.includes(argument)));
  }

  override async showRootHelp(): Promise<void> {
    const {bin, userAgent, pjson} = this.config;
    const commands = this.sortedCommands.map(({id, summary, description}) => ({
      name: id,
      summary: this.render(summary ?? description ?? '').replace(/\.$/, ''),
    }));
    this.log(programHelp({program: bin, version: userAgent, summary: pjson.description ?? '', commands}, layout()));
  }

  override async showCommandHelp(command: Command.Loadable): Promise<void> {
    const specs = command.optionSpecs as OptionSpec[] | undefined;
    if (!specs || specs.length === 0) return super.showCommandHelp(command);
    this.log(commandHelp(this.subject(command, specs), this.topic, layout()));
  }

  private subject(command: Command.Loadable, specs: OptionSpec[]): HelpSubject {
    return {
      command: `${this.config.bin} ${command.id}`,
      summary: command.summary ?? command.description ?? '',
      positionals: Object.entries(command.args).map(([name, argument]) => ({
        name: name.toUpperCase(),
        description: argument.description ?? '',
      })),
      specs,
      examples: (command.examples ?? []).map(String),
    };
  }
}

function layout(): HelpLayout {
  return {width: process.stdout.columns ?? defaultWidth, heading: headingStyle()};
}
