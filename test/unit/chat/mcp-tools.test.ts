import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type OpenedTools, openTools} from '../../../src/chat/tools/open-tools.ts';

const program = {
  command: process.execPath,
  args: ['--import', 'tsx', resolve(import.meta.dirname, '../../support/mcp-server.ts')],
};

/** The file is read at once and not needed any more. */
async function open(mcpServers: object): Promise<OpenedTools> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-mcp-'));
  const mcpConfig = join(folder, 'mcp.json');
  await writeFile(mcpConfig, JSON.stringify({mcpServers}));
  try {
    return await openTools({tools: [], toolApproval: 'auto', yesIKnow: false, mcpConfig}, folder);
  } finally {
    await rm(folder, {recursive: true});
  }
}

describe('tools of an MCP server', () => {
  let tools: OpenedTools;
  let notes: string[];
  beforeAll(async () => {
    tools = await open({
      test: program,
      'not there': {command: 'no-such-program'},
      web: {url: 'http://127.0.0.1:9/mcp'},
    });
    notes = await tools.start();
  });
  afterAll(() => tools.close());

  const run = (name: string, {signal = new AbortController().signal, report = (_line: string) => {}} = {}) =>
    tools.box.run(
      {id: 'c', type: 'function', function: {name: `test__${name}`, arguments: '{"text":"words"}'}},
      {signal, report},
    );

  it('are offered beside servers that cannot be started, which are named', () => {
    expect(tools.box.list().map(({tool}) => tool.name)).toContain('test__echo');
    expect(notes).toHaveLength(2);
    expect(notes[0]).toBe('MCP server not there: there is no program no-such-program');
    expect(notes[1]).toMatch(/^MCP server web: /);
    expect(tools.isStarting()).toBe(false);
  });

  it('give text, also of resources, and name what is none', async () => {
    expect(await run('echo')).toEqual({text: 'echo words', isError: false});
    expect(await run('mixed')).toEqual({text: '[image image/png]\nfile:///notes:\ninside', isError: false});
  });

  it('fail with their own words', async () => {
    expect(await run('fails')).toEqual({text: 'cannot words', isError: true});
  });

  it('have results of a bounded length', async () => {
    const {text} = await run('huge');
    expect(text.length).toBeLessThan(16_100);
    expect(text).toContain('characters left out');
  });

  it('tell how far they are, and can be stopped', async () => {
    const stop = new AbortController();
    const result = run('hangs', {signal: stop.signal, report: (line) => line === 'first part' && stop.abort()});
    expect((await result).isError).toBe(true);
  });

  it('whose server dies are a failed call, a word to the person, and there again at the next call', async () => {
    const told: string[] = [];
    tools.onNote((note) => told.push(note));
    for (let time = 1; time <= 2; time++) {
      expect(await run('dies')).toEqual({
        text: 'The MCP server test ended during this call. The next call starts it again.',
        isError: true,
      });
      expect(told).toEqual(Array(time).fill('MCP server test has ended; the next call starts it again.'));
      expect(await run('echo')).toEqual({text: 'echo words', isError: false});
    }
  });
});

it('a server that never answers holds nobody up who leaves', async () => {
  const tools = await open({mute: {...program, args: [...program.args, 'mute']}});
  const starting = tools.start();
  expect(tools.isStarting()).toBe(true);
  await tools.close();
  expect(await starting).toHaveLength(1);
});

it('says what a server that does not start has to say', async () => {
  const script = 'console.error("Error: no key\\n    at somewhere"); process.exit(1)';
  const tools = await open({broken: {command: process.execPath, args: ['-e', script]}});
  expect(await tools.start()).toEqual([expect.stringMatching(/^MCP server broken: .*\(Error: no key\)$/)]);
});

it('says what is wrong with the file', async () => {
  await expect(open({test: {args: []}})).rejects.toThrow(/--mcp-config .* cannot be read/);
});
