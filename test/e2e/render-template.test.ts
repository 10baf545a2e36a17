/** The built command: what a shell and a script get from `parlance render-template`. */
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {runProgram} from '../support/run-program.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

describe('parlance render-template', () => {
  it('writes the exact prompt into a pipe', async () => {
    const {code, stdout, stderr} = await runProgram(['render-template', '--system', 's', '-m', 'user=Hello']);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).toBe('<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n');
  });

  it('reads a request from stdin', async () => {
    const input = JSON.stringify({messages: [{role: 'user', content: 'piped'}]});
    const {stdout} = await runProgram(['render-template', '--chat-template', '{{ messages[0].content }}'], {input});
    expect(stdout).toBe('piped');
  });

  it('works with a template alone, and shows where it fails', async () => {
    const folder = await createTemporaryFolder({'bad.jinja': 'one\n{{ messages[0].x.y }}\n'});
    const {code, stdout, stderr} = await runProgram(['render-template', join(folder, 'bad.jinja')]);
    expect({code, stdout}).toEqual({code: 1, stdout: ''});
    expect(stderr).toMatch(
      /^Error: 'dict object' has no attribute 'x'\nin line 2, column \d+ of the template\n1 \| one\n2 \| \{\{ messages\[0\]\.x\.y \}\}\n {2}\| +\^\n$/,
    );
  });

  it('says in JSON where a template fails', async () => {
    const {code, stdout} = await runProgram(['render-template', '--chat-template', '{% for %}', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({type: 'UsageError', code: 2});
  });

  it.each([
    [['--diff', 'generation-prompt'], 3],
    [['--diff', 'kwargs.unknown=1'], 0],
    [['--diff', 'nonsense'], 2],
    [['--messages', '/nowhere.json'], 2],
    [['--chat-template', '{{ raise_exception("no") }}'], 1],
  ])('%j ends with exit code %i', async (argv, expected) => {
    expect((await runProgram(['render-template', ...argv])).code).toBe(expected);
  });

  it('checks a batch', async () => {
    const rows = [
      {template: '{{ 1 }}', messages: [], expected: '1'},
      {template: '{{ 1 }}', messages: [], expected: '2'},
    ];
    const folder = await createTemporaryFolder({'b.jsonl': rows.map((row) => JSON.stringify(row)).join('\n')});
    const {code, stdout, stderr} = await runProgram(['render-template', '--batch', join(folder, 'b.jsonl')]);
    expect(code).toBe(3);
    expect(stdout).toBe('{"name":"1","prompt":"1","ok":true}\n{"name":"2","prompt":"1","ok":false}\n');
    expect(stderr).toBe('2: not as expected\nb.jsonl: 2 rows, 1 of 2 as expected\n');
  });

  it('has help with short flags', async () => {
    const {stdout} = await runProgram(['render-template', '--help']);
    expect(stdout).toContain('also -m');
  });
});
