/**
 * `parlance bench` against streams in every shape that servers, proxies and their faults give them: framing, ends, empty
 * and odd events, several choices, compression, redirects. One run asks for all of them, one after the other.
 */
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {expect, it} from 'vitest';
import {type RawAnswer, startRawStreamServer} from '../support/raw-stream-server.ts';
import {runProgram} from '../support/run-program.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

interface Expected {
  text?: string;
  tokens?: number;
  /** Positions in the writes of the first and the last output. */
  outputs?: [number, number];
  reasoning?: string;
  /** Names and arguments of calls. */
  calls?: string[];
  failure?: RegExp;
}

interface Shape extends RawAnswer, Expected {
  /** Further fields of the request. */
  body?: object;
}

const gapMs = 40;
const data = (value: object | string) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const after = (afterMs: number, ...events: (object | string)[]) => ({afterMs, bytes: events.map(data).join('')});

const choice = (delta: object, finish_reason: string | null = null, index = 0) => ({index, delta, finish_reason});
const chunk = (delta: object, numTokens: number | null, finish: string | null = null) => ({
  choices: [choice(delta, finish)],
  ...(numTokens !== null && {usage: {prompt_tokens: 5, completion_tokens: numTokens}}),
});
const text = (content: string, numTokens: number | null = null, finish: string | null = null) =>
  chunk({content}, numTokens, finish);
const total = (numTokens: number) => ({choices: [], usage: {prompt_tokens: 5, completion_tokens: numTokens}});
const done = '[DONE]';

/** Three tokens, one after the other, and a proper end. */
const threeTokens = [
  after(gapMs, text('a', 1)),
  after(gapMs, text('b', 2)),
  after(gapMs, text('c', 3)),
  after(0, chunk({}, 3, 'stop'), total(3), done),
];
const three = {writes: threeTokens, text: 'abc', tokens: 3, outputs: [0, 2] satisfies [number, number]};
const call = (fields: object) => ({tool_calls: [fields]});

const shapes: Record<string, Shape> = {
  usual: three,
  'HTTP/1.0, ended by closing': {...three, framing: 'until-closed'},
  'closed behind the answer without a word': {...three, ends: 'and-closes'},
  'open behind [DONE]': {...three, ends: 'never'},
  'torn behind [DONE]': {...three, ends: 'torn'},
  'one byte at a time': {...three, isBytewise: true},
  'comments and blank lines between': {
    ...three,
    writes: threeTokens.map(({afterMs, bytes}) => ({afterMs, bytes: `: ping\n\n\n\nevent: x\nretry: 5\n\n${bytes}`})),
  },
  'carriage returns, an event over several lines': {
    ...three,
    writes: threeTokens.map(({afterMs, bytes}) => ({
      afterMs,
      bytes: bytes.replaceAll(',"', ',\ndata:"').replaceAll('\n', '\r\n'),
    })),
  },
  'everything in one packet': {
    writes: [after(3 * gapMs, text('a', 1), text('b', 2), text('c', 3, 'stop'), total(3), done)],
    text: 'abc',
    tokens: 3,
    outputs: [0, 0],
  },
  'an empty choice list first': {
    ...three,
    writes: [
      after(0, {choices: [], prompt_filter_results: []}, chunk({role: 'assistant', content: ''}, 0)),
      ...threeTokens,
    ],
    outputs: [1, 3],
  },
  'a finish that carries text': {
    writes: [after(gapMs, text('a', 1)), after(gapMs, text('bc', 3, 'length')), after(0, done)],
    text: 'abc',
    tokens: 3,
    outputs: [0, 1],
  },
  'usage null in each event': {
    writes: [
      after(gapMs, {...text('a'), usage: null}),
      after(gapMs, {...text('bc', null, 'stop'), usage: null}),
      after(gapMs, total(9), done),
    ],
    text: 'abc',
    tokens: 9,
    outputs: [0, 1],
  },
  'reasoning by its older name, the newer one empty': {
    writes: [
      after(gapMs, chunk({reasoning: '', reasoning_content: 'hm'}, 1)),
      after(gapMs, chunk({reasoning: 'm', reasoning_content: 'm'}, 2)),
      after(gapMs, text('a', 3, 'stop'), done),
    ],
    text: 'a',
    reasoning: 'hmm',
    tokens: 3,
    outputs: [0, 2],
  },
  'two tool calls and nothing else': {
    writes: [
      after(gapMs, chunk(call({index: 0, id: 'c1', function: {name: 'f', arguments: '{}'}}), 3)),
      after(gapMs, chunk(call({index: 1, id: 'c2', function: {name: 'g', arguments: '{"a"'}}), 5)),
      after(gapMs, chunk(call({index: 1, function: {arguments: ':1}'}}), 8)),
      after(0, chunk({}, 9, 'tool_calls'), done),
    ],
    text: '',
    calls: ['f{}', 'g{"a":1}'],
    tokens: 9,
    outputs: [0, 2],
  },
  'two choices, with counts of each': {
    body: {n: 2},
    writes: [
      after(gapMs, {...text('a', 1)}),
      after(gapMs, {choices: [choice({content: 'X'}, null, 1)], usage: {completion_tokens: 1}}),
      after(gapMs, {...text('b', 2, 'stop')}),
      after(gapMs, {choices: [choice({content: 'YZ'}, 'stop', 1)], usage: {completion_tokens: 3}}),
      after(0, total(5), done),
    ],
    text: 'ab',
    tokens: 5,
    outputs: [0, 3],
  },
  'one choice of two': {body: {n: 2}, writes: [after(gapMs, text('a', 1, 'stop'), done)], failure: /^truncated: /},
  'compressed unasked': {
    headers: ['content-type: text/event-stream', 'content-encoding: gzip'],
    writes: [{afterMs: 0, bytes: gzipSync(data(text('a', 1, 'stop')) + data(done))}],
    failure: /^malformed: The answer is compressed \(gzip\)/,
  },
  'a limit': {
    status: '429 Too Many Requests',
    headers: ['content-type: application/json', 'retry-after: 7'],
    writes: [{afterMs: 0, bytes: '{"error": {"message": "slow down"}}'}],
    failure: /^http_429: slow down; retry after 7 s$/,
  },
  'a redirect': {
    status: '307 Temporary Redirect',
    headers: ['location: http://elsewhere/'],
    writes: [],
    failure: /^http_307: moved to http:\/\/elsewhere\/$/,
  },
  'a page of a proxy': {
    status: '502 Bad Gateway',
    headers: ['content-type: text/html'],
    writes: [{afterMs: 0, bytes: '<html>\n<h1>502 Bad\n  Gateway</h1>\n</html>'}],
    failure: /^http_502: <html> <h1>502 Bad Gateway<\/h1> <\/html>$/,
  },
  'torn in the middle': {...three, writes: threeTokens.slice(0, 2), ends: 'torn', failure: /^truncated: /},
};

interface Result {
  ttfts: number[];
  latencies: number[];
  start_times: number[];
  output_lens: number[];
  generated_texts: string[];
  errors: string[];
  requests: {id: string; reasoning: string; tool_calls: {name: string; argumentsText: string}[]}[];
  client: {client_verdict: string};
}

/** A client that says that it had to wait for a processor is late by any time. */
const toleranceMs: Readonly<Record<string, number>> = {ok: 10, strained: 100, distorted: 1000};

it('streams in every shape are read exactly, and what is none is told', {retry: 2}, async () => {
  const server = await startRawStreamServer({answers: shapes});
  const entries = Object.entries(shapes).map(([shape, {body}]) => ({
    id: shape,
    prompt: 'Hi',
    extra_body: {shape, ...body},
  }));
  const path = join(await createTemporaryFolder(), 'shapes.jsonl');
  await writeFile(path, entries.map((entry) => JSON.stringify(entry)).join('\n'));
  const dataset = ['--dataset-name', 'custom', '--dataset-path', path, '--disable-shuffle'];
  const load = ['--num-prompts', String(entries.length), '--concurrency', '1', '--skip-tokenizer-init'];
  const output = ['--json', '--save-detailed', '--no-progress'];
  const url = `http://127.0.0.1:${server.port}`;
  const {code, stdout, stderr} = await runProgram(['bench', '--url', url, ...dataset, ...load, ...output]).finally(
    server.close,
  );
  expect(code, stderr).toBe(1);
  const result = JSON.parse(stdout) as Result;
  for (const [index, [name, shape]] of Object.entries(shapes).entries()) {
    expectShape(result, index, name, shape, server.writtenMs.get(name) ?? []);
  }
});

function expectShape(result: Result, index: number, name: string, shape: Shape, writtenMs: readonly number[]): void {
  const {failure, text: wantedText, tokens, outputs = [0, 0], reasoning = '', calls = []} = shape;
  expect(result.requests[index].id).toBe(name);
  if (failure !== undefined) return expect(result.errors[index], name).toMatch(failure);
  expect(result.errors[index], name).toBe('');
  const {tool_calls: seenCalls, reasoning: seenReasoning} = result.requests[index];
  expect(
    {
      text: result.generated_texts[index],
      tokens: result.output_lens[index],
      reasoning: seenReasoning,
      calls: seenCalls.map(({name: called, argumentsText}) => called + argumentsText),
    },
    name,
  ).toEqual({text: wantedText, tokens, reasoning, calls});
  const [first, last] = outputs.map((place) => writtenMs[place] - result.start_times[index] * 1000);
  const tolerance = toleranceMs[result.client.client_verdict];
  const [ttftMs, latencyMs] = [result.ttfts[index] * 1000, result.latencies[index] * 1000];
  expect(Math.abs(ttftMs - first), `first token of "${name}": ${ttftMs} is not ${first}`).toBeLessThan(tolerance);
  expect(Math.abs(latencyMs - last), `end of "${name}": ${latencyMs} is not ${last}`).toBeLessThan(tolerance);
}
