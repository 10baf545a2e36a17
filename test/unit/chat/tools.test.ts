import {mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {builtInTools} from '../../../src/chat/tools/built-in-tools.ts';
import {calculate} from '../../../src/chat/tools/calculator.ts';
import {checkAddress} from '../../../src/chat/tools/fetch-text.ts';
import {contentText, toolName} from '../../../src/chat/tools/mcp-tools.ts';
import {cutMiddle, ToolBox} from '../../../src/chat/tools/tool-box.ts';
import {readToolsFile} from '../../../src/chat/tools/tools-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlance-tools-'));
  await writeFile(join(folder, 'notes.txt'), 'inside');
  await symlink('/etc', join(folder, 'way-out'));
});
afterAll(() => rm(folder, {recursive: true}));

const run = (
  name: string,
  input: object,
  box = new ToolBox(builtInTools, {approval: 'auto', allowsChanges: true, folder}),
) =>
  box.run(
    {id: 'c', type: 'function', function: {name, arguments: JSON.stringify(input)}},
    {signal: new AbortController().signal, report() {}},
  );

describe('calculate', () => {
  it.each([
    ['2 + 3 * 4', 14],
    ['-2^2', -4],
    ['2^3^2', 512],
    ['(1 + 2) * sqrt(16) % 5', 2],
    ['max(1, 2, 3) - 1e-1', 2.9],
  ])('%s = %d', (expression, value) => expect(calculate(expression)).toBeCloseTo(value));

  it.each(['', '1 +', '(1', 'process.exit()', 'constructor', '1 2'])('refuses %j', (expression) => {
    expect(() => calculate(expression)).toThrow();
  });
});

describe('built-in tools', () => {
  it('read and list below the working folder', async () => {
    expect(await run('read_file', {path: 'notes.txt'})).toEqual({text: 'inside', isError: false});
    expect((await run('list_dir', {})).text).toContain('notes.txt');
  });

  it.each(['../x', '/etc/hostname', 'way-out/hostname'])('never leave it: %s', async (path) => {
    expect((await run('read_file', {path})).isError).toBe(true);
  });

  it('write only inside', async () => {
    expect((await run('write_file', {path: 'new.txt', content: 'x'})).isError).toBe(false);
    expect((await run('write_file', {path: 'way-out/new.txt', content: 'x'})).text).toMatch(/outside/);
  });

  it('tell how a command ended', async () => {
    expect(await run('run_shell', {command: 'echo out; exit 3'})).toEqual({text: 'exit code 3\nout\n', isError: true});
  });

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'file:///etc/passwd',
  ])('do not fetch %s', async (url) => expect(checkAddress(url)).rejects.toThrow());
});

describe('what may run unasked', () => {
  const verdict = (name: string, approval: 'ask' | 'auto' | 'never', allowsChanges = false) => {
    const input = {path: 'a', content: 'b', command: 'c', expression: '1'};
    const call = {id: 'c', type: 'function', function: {name, arguments: JSON.stringify(input)}} as const;
    return new ToolBox(builtInTools, {approval, allowsChanges, folder}).verdict(call).type;
  };
  it.each([
    ['calculator', 'ask', false, 'ask'],
    ['calculator', 'auto', false, 'allowed'],
    ['calculator', 'never', false, 'fault'],
    ['run_shell', 'auto', false, 'ask'],
    ['run_shell', 'auto', true, 'allowed'],
    ['nothing', 'auto', true, 'fault'],
  ] as const)('%s with %s, changes %s: %s', (name, approval, allowsChanges, expected) => {
    expect(verdict(name, approval, allowsChanges)).toBe(expected);
  });
});

it('a word for all calls of a tool is only offered where it counts', () => {
  const box = new ToolBox(builtInTools, {approval: 'ask', allowsChanges: false, folder});
  const call = (name: string, input: object) =>
    ({id: 'c', type: 'function', function: {name, arguments: JSON.stringify(input)}}) as const;
  expect(box.verdict(call('calculator', {expression: '1'}))).toEqual({type: 'ask', canAllow: true});
  expect(box.verdict(call('run_shell', {command: 'ls'}))).toEqual({type: 'ask', canAllow: false});
});

describe('tools of a file', () => {
  it('get the arguments on stdin', async () => {
    const path = join(folder, 'tools.json');
    await writeFile(path, JSON.stringify({tools: [{name: 'echo', command: ['cat']}]}));
    const box = new ToolBox(await readToolsFile(path), {approval: 'auto', allowsChanges: false, folder});
    expect(await run('echo', {a: 1}, box)).toEqual({text: '{"a":1}', isError: false});
  });

  it('are refused with the place of the fault', async () => {
    const path = join(folder, 'bad.json');
    await writeFile(path, '[{"name": "no spaces please", "command": ["x"]}]');
    await expect(readToolsFile(path)).rejects.toThrow(/--tools/);
  });
});

it('cuts long results in the middle, and names MCP tools as the API allows', () => {
  expect(cutMiddle('a'.repeat(100), 10)).toBe('aaaaa\n[… 90 characters left out …]\naaaaa');
  expect(toolName('my server', 'a.b'.repeat(40))).toMatch(/^my_server__[A-Za-z0-9_-]{53}$/);
  expect(contentText([{type: 'text', text: 'a'}, {type: 'image'}])).toBe('a\n[image]');
});
