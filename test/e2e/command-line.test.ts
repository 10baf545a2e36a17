/** The built command line without a server: version, help, where values come from, errors and exit codes. */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {programPath, runProgram} from '../support/run-program.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-command-line-'));
});

afterAll(() => rmSync(folder, {recursive: true}));

describe('version and help', () => {
  it.each([['--version'], ['-v']])('%s', async (flag) => {
    const {code, stdout, stderr} = await runProgram([flag]);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).toMatch(/^parlance\/\d+\.\d+\.\d+ \S+ node-v\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ['the first page', ['serve', '--help'], /FLAGS USED MOST[\s\S]*--port N[\s\S]*SchedulerConfig {2}/],
    ['the first page by the help command', ['help', 'serve'], /FLAGS USED MOST/],
    ['everything', ['serve', '--help=all'], /--max-num-batched-tokens N[\s\S]*--ready-file FILE/],
    ['a group', ['serve', '--help=scheduler_config'], /^SCHEDULERCONFIG\n/],
    ['a part of a name', ['serve', '--help=max-num'], /^FLAGS WITH "MAX-NUM"\n/],
    ['no match', ['serve', '--help=xyzzy'], /^No group and no flag of `parlance serve` matches "xyzzy"\./],
    ['the list of commands', ['--help'], /COMMANDS\n {2}serve [\s\S]*TO BEGIN WITH\n {2}parlance serve /],
    ['the list of commands', [], /COMMANDS\n/],
    ['the list of commands', ['help'], /COMMANDS\n/],
  ])('shows %s', async (_name, argv, expected) => {
    const {code, stdout, stderr} = await runProgram(argv);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).toMatch(expected);
  });

  it('writes no colour into a pipe, unless told to', async () => {
    const escapeCode = String.fromCharCode(27);
    expect((await runProgram(['serve', '--help'])).stdout).not.toContain(escapeCode);
    expect((await runProgram(['serve', '--help'], {env: {FORCE_COLOR: '1'}})).stdout).toContain(escapeCode);
  });
});

describe('an unknown command', () => {
  it.each([
    [['serv'], 'Error: Unknown command serv\ndid you mean parlance serve?\n'],
    [['xyzzyxyzzy'], 'Error: Unknown command xyzzyxyzzy\n`parlance --help` lists all commands\n'],
  ])('%j is wrong use', async (argv, stderr) => {
    expect(await runProgram(argv)).toEqual({code: 2, stdout: '', stderr});
  });

  it('is named in JSON when that is asked for', async () => {
    const {code, stdout} = await runProgram(['serv', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({error: {message: 'Unknown command serv', type: 'UsageError', code: 2}});
  });
});

describe('where a value comes from', () => {
  const cases = [
    {flag: false, env: false, file: false, value: 32, origin: 'default'},
    {flag: false, env: false, file: true, value: 3, origin: 'file'},
    {flag: false, env: true, file: false, value: 2, origin: 'env'},
    {flag: false, env: true, file: true, value: 2, origin: 'env'},
    {flag: true, env: false, file: true, value: 1, origin: 'flag'},
    {flag: true, env: true, file: false, value: 1, origin: 'flag'},
    {flag: true, env: true, file: true, value: 1, origin: 'flag'},
  ];

  it.each(cases)('flag $flag, env $env, file $file: $origin', async ({flag, env, file, value, origin}) => {
    const path = join(folder, 'server.yaml');
    writeFileSync(path, file ? 'max_num_seqs: 3\nmodel: from-file\n' : '');
    const argv = ['serve', '--config', path, '--max_model_len', '2k', '--show-config', '--json'];
    const result = await runProgram(flag ? [...argv, '--max-num-seqs', '1'] : argv, {
      env: env ? {PARLANCE_MAX_NUM_SEQS: '2'} : {},
    });
    expect(result).toMatchObject({code: 0, stderr: ''});
    expect(JSON.parse(result.stdout)).toMatchObject({
      'max-num-seqs': {value, origin},
      'max-model-len': {value: 2000, origin: 'flag'},
      model: file ? {value: 'from-file', origin: 'file'} : {value: null, origin: 'default'},
    });
  });

  it('never shows a key', async () => {
    const {stdout} = await runProgram(['serve', '--api-key', 'hunter2', '--show-config']);
    expect(stdout).toMatch(/^api-key\s+\*\*\*\s+flag$/m);
    expect(stdout).not.toContain('hunter2');
  });

  it('does not take piped text for the model', async () => {
    const {stdout} = await runProgram(['serve', '--show-config', '--json'], {input: 'text\n'});
    expect(JSON.parse(stdout).model).toEqual({value: null, origin: 'default'});
  });
});

describe('reported faults', () => {
  const noServer = ['--url', 'http://127.0.0.1:9'];

  it.each([['--help'], ['bench', '--help'], ['serve', '--help=all']])(
    'PR-cli-01: %s loads nothing native',
    async (...argv) => {
      const list = 'process.on("exit", () => console.error(process.report.getReport().sharedObjects.join(" ")))';
      const {code, stderr} = await runProgram(argv, {
        env: {NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(list)}`},
      });
      expect(code).toBe(0);
      expect(stderr).toMatch(/\S/);
      expect(stderr).not.toMatch(/\.node\b|onnxruntime|koffi/);
    },
  );

  it.each([
    [['serve', 'M', '-port', '8000'], 'Error: Unknown flag -port\ndid you mean --port?\n'],
    [
      ['serve', 'M', '--max-concurrency', '20'],
      'Error: Unknown flag --max-concurrency\ndid you mean --max-num-seqs?\n',
    ],
  ])('PR-cli-02: %j names the flag and a near one', async (argv, stderr) => {
    expect(await runProgram(argv)).toEqual({code: 2, stdout: '', stderr});
  });

  it.each([
    ['chat', [...noServer, '-q', 'hi']],
    ['bench', [...noServer, '--num-prompts', '1']],
  ])('PR-cli-04, PR-engine-06: %s without a server ends in order', async (command, argv) => {
    const start = performance.now();
    const {code, stderr} = await runProgram([command, ...argv]);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: [^\n]*http:\/\/127\.0\.0\.1:9/m);
    expect(stderr).not.toMatch(/^ +at |abort|core dumped/m);
  });
});

describe('errors', () => {
  it.each([
    ['an unknown flag', ['serve', '--prot', '1'], 2, 'Error: Unknown flag --prot\ndid you mean --port?\n'],
    ['a wrong value', ['serve', '--port', 'x'], 2, 'Error: --port cannot be x\nallowed: an integer from 0 to 65535\n'],
    ['two models', ['serve', 'a', 'b'], 2, 'Error: Unexpected argument: b\n'],
    [
      'a file that is not there',
      ['serve', '--config', '/no/such.yaml'],
      2,
      /^Error: --config \/no\/such\.yaml cannot be read/,
    ],
    [
      'a ready file in a folder that is not there, before a model is loaded',
      ['serve', '/no/such/model', '--ready-file', '/no/such/ready', '--log-level', 'error'],
      2,
      /^Error: --ready-file \/no\/such\/ready cannot be written: [^\n]*\n$/,
    ],
    [
      'a model that is not there',
      ['serve', '/no/such/model', '--port', '0', '--log-level', 'error'],
      1,
      /^Error: There is no file or folder \/no\/such\/model\. [^\n]*\n$/,
    ],
  ])('%s', async (_name, argv, code, message) => {
    const result = await runProgram(argv);
    expect(result).toMatchObject({code, stdout: ''});
    if (typeof message === 'string') expect(result.stderr).toBe(message);
    else expect(result.stderr).toMatch(message);
  });

  it('are one JSON document on stdout with --json', async () => {
    const {code, stdout} = await runProgram(['serve', '--json', '--port', 'x']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {message: '--port cannot be x\nallowed: an integer from 0 to 65535', type: 'UsageError', code: 2},
    });
  });

  it('show their stack only at log level debug', async () => {
    const argv = ['serve', '/no/such/model', '--port=0'];
    expect((await runProgram(argv)).stderr).not.toMatch(/^ +at /m);
    expect((await runProgram([...argv, '--log-level', 'debug'])).stderr).toMatch(/^ +at /m);
  });

  it('are none when the reader of stdout leaves', async () => {
    const pipe = `"${process.execPath}" "${programPath}" serve --help=all 2>&1 | head -1; echo "code \${PIPESTATUS[0]}"`;
    const {stdout} = await promisify(execFile)('bash', ['-c', pipe]);
    expect(stdout).toBe('FRONTEND\ncode 0\n');
  });
});
