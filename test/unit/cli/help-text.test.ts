import {describe, expect, it} from 'vitest';
import * as z from 'zod';
import {commandHelp, type HelpSubject, programHelp} from '../../../src/cli/help-text.ts';
import {optionSpecs} from '../../../src/cli/option-spec.ts';

const specs = optionSpecs(
  z.object({
    host: z
      .string()
      .default('127.0.0.1')
      .meta({description: 'Address to listen on', group: 'Frontend', firstPage: true}),
    maxNumSeqs: z.int().min(1).default(32).meta({description: 'Most sequences', group: 'SchedulerConfig'}),
    maxModelLen: z.int().nullable().default(null).meta({description: 'Longest', group: 'ModelConfig', fromModel: true}),
    progress: z.boolean().default(true).meta({description: 'Show progress', group: 'Terminal'}),
    level: z
      .enum(['a', 'b', 'c', 'd', 'e'])
      .default('a')
      .meta({description: 'Level', group: 'Terminal', aliases: ['loudness'], env: ['LOUD']}),
  }),
);

const subject: HelpSubject = {
  command: 'tool serve',
  summary: 'Serve a model',
  positionals: [{name: 'MODEL', description: 'The model'}],
  specs,
  examples: ['tool serve x'],
};

const help = (topic: string | null, width = 80) => commandHelp(subject, topic, {width, heading: (text) => text});

describe('programHelp', () => {
  it('lists the commands, those that most people come for first, within the width', () => {
    const commands = ['autocomplete', 'bench', 'serve'].map((name) => ({
      name,
      summary: `${name} does things `.repeat(6),
    }));
    const summary = 'Serve language models on any machine '.repeat(4).trim();
    const subject = {program: 'tool', version: 'tool/1', summary, commands};
    const lines = programHelp(subject, {width: 60, heading: (text) => text}).split('\n');
    expect(Math.max(...lines.map(({length}) => length))).toBeLessThanOrEqual(60);
    const named = lines.flatMap((line) => /^ {2}(serve|bench|autocomplete) /.exec(line)?.[1] ?? []);
    expect(named).toEqual(['serve', 'bench', 'autocomplete']);
    expect(lines.join('\n')).toContain('tool serve --help');
  });
});

describe('commandHelp', () => {
  it('shows the common flags, the groups and the way to more on the first page', () => {
    expect(help(null)).toMatchInlineSnapshot(`
      "Serve a model

      USAGE
        tool serve [MODEL] [FLAGS]

      ARGUMENTS
        MODEL  The model

      FLAGS USED MOST
        --host TEXT  Address to listen on [default: 127.0.0.1; env: PARLANCE_HOST]

      ALL FLAGS BY GROUP
        Frontend         host
        SchedulerConfig  max-num-seqs
        ModelConfig      max-model-len
        Terminal         progress, level

      MORE HELP
        tool serve --help=all       every flag
        tool serve --help=Frontend  the flags of one group
        tool serve --help=max       the flags whose name contains "max"

      EXAMPLES
        tool serve x"
    `);
  });

  it('shows every flag', () => {
    expect(help('all')).toMatchInlineSnapshot(`
      "FRONTEND
        --host TEXT  Address to listen on [default: 127.0.0.1; env: PARLANCE_HOST]

      SCHEDULERCONFIG
        --max-num-seqs N  Most sequences [default: 32; env: PARLANCE_MAX_NUM_SEQS]

      MODELCONFIG
        --max-model-len N  Longest [default: from the model; env:
                           PARLANCE_MAX_MODEL_LEN]

      TERMINAL
        --no-progress   Do not: show progress [env: PARLANCE_PROGRESS]
        --level CHOICE  Level (a, b, c, d, e); also --loudness [default: a; env: LOUD,
                        PARLANCE_LEVEL]"
    `);
  });

  it.each(['SchedulerConfig', 'schedulerconfig', 'SCHEDULERCONFIG', 'scheduler_config', '--scheduler-config'])(
    'shows the group %s',
    (topic) => {
      expect(help(topic)).toBe(
        'SCHEDULERCONFIG\n  --max-num-seqs N  Most sequences [default: 32; env: PARLANCE_MAX_NUM_SEQS]',
      );
    },
  );

  it.each(['max', 'max_', '--max'])('shows the flags with %s in their name', (topic) => {
    const shown = help(topic);
    expect(shown).toContain('--max-num-seqs');
    expect(shown).toContain('--max-model-len');
    expect(shown).not.toContain('--host');
  });

  it('shows a group by the beginning of its name, when no flag has it', () => {
    expect(help('sched')).toBe(help('SchedulerConfig'));
  });

  it('keeps a group to one line of the first page', () => {
    const fields = Array.from(
      {length: 20},
      (_, index) => [`option${index}`, z.string().meta({group: 'Many'})] as const,
    );
    const many = {...subject, specs: optionSpecs(z.object(Object.fromEntries(fields)))};
    const lines = commandHelp(many, null, {width: 60, heading: (text) => text}).split('\n');
    expect(lines.filter((line) => line.includes('option'))).toEqual([
      '  Many  option0, option1, option2, option3, … 16 more',
    ]);
  });

  it('finds a flag by its other name', () => {
    expect(help('loud')).toContain('--level');
  });

  it('says so when nothing matches', () => {
    expect(help('hosts')).toBe(
      'No group and no flag of `tool serve` matches "hosts". Did you mean host?\n' +
        'Groups: Frontend, SchedulerConfig, ModelConfig, Terminal',
    );
  });

  it.each([60, 80, 132])('keeps to %i columns', (width) => {
    const longest = Math.max(
      ...help('all', width)
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThanOrEqual(width);
  });
});
