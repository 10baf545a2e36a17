import {describe, expect, it} from 'vitest';
import {parseOutputOptionsSchema} from '../../../src/parse-output/options.ts';
import {cutText} from '../../../src/parse-output/parse-text.ts';
import {type RunOptions, runParseOutput} from '../../../src/parse-output/run.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';

const CALL = '<tool_call>\n{"name": "find", "arguments": {"zip":"01234"}}\n</tool_call>';
const tools = JSON.stringify([{type: 'function', function: {name: 'find', parameters: {type: 'object'}}}]);

/** Runs with files that exist in memory only. */
async function run(given: Partial<RunOptions>, files: Record<string, string> = {}): Promise<string[]> {
  const lines: string[] = [];
  const options = {...parseOutputOptionsSchema.parse({}), file: 'out.txt', json: false, ...given};
  await runParseOutput(options, {
    readText: async (name) => files[name]!,
    write: (line) => lines.push(line),
    heading: (text) => text,
    logger: new RecordingLogger(),
  });
  return lines;
}

describe('one output', () => {
  it('is shown as thoughts, text and calls', async () => {
    const lines = await run(
      {toolCallParser: 'hermes', reasoningParser: 'qwen3'},
      {'out.txt': `Hm.\nWell.</think>Sure.${CALL}`},
    );
    expect(lines.map((line) => line.replace(/id .*/, 'id'))).toEqual([
      'Reasoning:',
      '  Hm.',
      '  Well.',
      '',
      'Content:',
      '  Sure.',
      '',
      'Tool call 0: find',
      '  {"zip":"01234"}',
      '  id',
      '',
    ]);
  });

  it('is JSON on demand, also with arguments that were cut', async () => {
    const [line] = await run(
      {toolCallParser: 'hermes', tools: 'tools.json', json: true, finish: 'length'},
      {'out.txt': CALL.slice(0, 52), 'tools.json': tools},
    );
    expect(JSON.parse(line!)).toEqual({
      content: null,
      reasoning: null,
      tool_calls: [{name: 'find', arguments: '{"zip":"01'}],
    });
  });

  it('shows what each piece gives', async () => {
    const lines = await run({reasoningParser: 'qwen3', stream: true, pieceLength: 3}, {'out.txt': 'Hm</think>Yes'});
    expect(lines).toEqual([
      '"Hm<"  reasoning        "Hm"',
      '">Ye"  content          "Ye"',
      '"s"    content          "s"',
    ]);
  });

  it('takes the formats that a template gives away', async () => {
    const files = {'out.txt': CALL, 'chat.jinja': '<tool_call> <think> enable_thinking'};
    const lines = await run({toolCallParser: 'auto', chatTemplate: 'chat.jinja', json: true}, files);
    expect(lines[0]).toContain('"name":"find"');
  });

  it.each([
    [{}, /no parser was named/],
    [{toolCallParser: 'auto'}, /auto needs a chat template/],
    [{toolCallParser: 'none-such'}, /invalid tool call parser: none-such/],
    [{toolCallParser: 'hermes', file: null}, /there is no output to read/],
    [{toolCallParser: 'hermes', toolChoice: 'other', tools: 'tools.json'}, /--tool-choice other is neither/],
    [{toolCallParser: 'hermes', tools: 'bad.json'}, /bad\.json is no JSON/],
    [{toolCallParser: 'hermes', tools: 'odd.json'}, /odd\.json is wrong at 0\.function/],
  ])('%o is refused', async (given, message) => {
    const files = {'out.txt': '', 'tools.json': tools, 'bad.json': '[', 'odd.json': '[{"function": 1}]'};
    await expect(run(given, files)).rejects.toThrow(message);
  });
});

describe('a batch', () => {
  it('gives one result for each line, streamed or whole', async () => {
    const batch = [
      {name: 'a', parser: 'hermes', tools: JSON.parse(tools), output: CALL},
      {name: 'b', parser: 'qwen3', prompt_tail: '', chunks: ['Hm', '</think>', 'Yes']},
      {name: 'c', parser: 'qwen3', tool_parser: 'hermes', tools: JSON.parse(tools), output: `Hm</think>${CALL}`},
    ];
    const lines = await run({batch: 'batch'}, {batch: batch.map((line) => `${JSON.stringify(line)}\n`).join('')});
    const call = {name: 'find', arguments: '{"zip":"01234"}'};
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {name: 'a', content: null, reasoning: null, tool_calls: [call], prefixes: [[call.arguments, call.arguments]]},
      {name: 'b', content: 'Yes', reasoning: 'Hm', tool_calls: [], prefixes: []},
      {name: 'c', content: null, reasoning: 'Hm', tool_calls: [call]},
    ]);
  });

  it('names the line that is wrong', async () => {
    await expect(run({batch: 'b.jsonl'}, {'b.jsonl': '{"parser": "hermes"}\n{'})).rejects.toThrow(/^b\.jsonl:2 is no/);
    await expect(run({batch: 'b.jsonl'}, {'b.jsonl': '\n{"tool_parser": "hermess"}'})).rejects.toThrow(
      /^b\.jsonl:2: invalid tool call parser: hermess \(chose from/,
    );
    await expect(run({batch: 'b.jsonl'}, {'b.jsonl': '{"parser": 1}'})).rejects.toThrow(
      /^b\.jsonl:1 is wrong at parser/,
    );
  });
});

describe('names', () => {
  it('are all there', async () => {
    const [tool, reasoning] = await run({list: true});
    expect(tool).toMatch(/^--tool-call-parser \(\d+\): .*\bhermes\b/);
    expect(reasoning).toMatch(/^--reasoning-parser \(\d+\): .*\bqwen3\b/);
  });
});

it('pieces never split a character', () => {
  expect(cutText('a😀b', 2)).toEqual(['a😀', 'b']);
});
