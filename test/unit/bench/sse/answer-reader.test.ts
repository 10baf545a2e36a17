import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {openRecord} from '../../../../src/bench/request-record.ts';
import {AnswerReader} from '../../../../src/bench/sse/answer-reader.ts';
import {plannedRequest} from '../../../support/bench-records.ts';

const role = {choices: [{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}]};
const text = (content: string, usage?: object) => ({choices: [{index: 0, delta: {content}}], usage});
const end = {choices: [{index: 0, delta: {}, finish_reason: 'stop'}]};
const usage = (tokens: number) => ({
  prompt_tokens: 7,
  completion_tokens: tokens,
  prompt_tokens_details: {cached_tokens: 4},
});

/** Each item is one read, 10 ms after the one before; objects are events of their own. */
function read(reads: (object | string)[], numChoices = 1) {
  const record = openRecord(plannedRequest(), 0, 0);
  const reader = new AnswerReader(record, {numChoices});
  reads.forEach((item, index) => {
    const bytes = typeof item === 'string' ? item : `data: ${JSON.stringify(item)}\n\n`;
    reader.push(Buffer.from(bytes), (index + 1) * 10);
  });
  reader.finish(reads.length * 10 + 1);
  return record;
}

const done = 'data: [DONE]\n\n';

describe('moments', () => {
  it('takes the first output, not the role, for the first token, and no usage for the last one', () => {
    const record = read([role, text('a'), text('b'), end, {choices: [], usage: usage(2)}, done]);
    expect(record).toMatchObject({firstChunkMs: 10, firstMs: 20, lastMs: 40, outputTimesMs: [20, 30], failure: null});
    expect(record).toMatchObject({
      promptTokens: 7,
      completionTokens: 2,
      cachedTokens: 4,
      finishReason: 'stop',
      content: 'ab',
    });
  });

  it('tells reasoning from the answer', () => {
    const record = read([{choices: [{delta: {reasoning_content: 'hm'}}]}, text('yes'), end, done]);
    expect(record).toMatchObject({firstMs: 10, firstAnswerMs: 20, hasReasoning: true, reasoning: 'hm', content: 'yes'});
  });

  it('takes reasoning from whichever of its two names says something', () => {
    const thoughts = [
      {reasoning: '', reasoning_content: 'a'},
      {reasoning: 'b', reasoning_content: 'b'},
    ];
    const record = read([...thoughts.map((delta) => ({choices: [{delta}]})), text('yes'), end, done]);
    expect(record).toMatchObject({reasoning: 'ab', firstMs: 10, firstAnswerMs: 30});
  });

  it('counts calls, token ids and texts of completions as output', () => {
    const call = (delta: object) => ({choices: [{delta: {tool_calls: [{index: 0, ...delta}]}}]});
    const record = read([
      call({id: 'c1', function: {name: 'f'}}),
      call({function: {arguments: '{"a"'}}),
      call({function: {arguments: ':1}'}}),
      end,
      done,
    ]);
    expect(record.outputTimesMs).toEqual([10, 20, 30]);
    expect(record.toolCalls).toEqual([{id: 'c1', name: 'f', argumentsText: '{"a":1}'}]);
    expect(read([{choices: [{token_ids: [1], delta: {}}]}, end, done]).firstMs).toBe(10);
    expect(read([{choices: [{text: 'x', finish_reason: 'stop'}]}, done]).content).toBe('x');
  });

  it('knows the tokens of an event from running usage', () => {
    const record = read([role, text('a', usage(1)), text('bcd', usage(4)), end, {choices: [], usage: usage(4)}, done]);
    expect(record.chunkTokens).toEqual([1, 3]);
    expect(read([text('a'), end, {choices: [], usage: usage(1)}, done]).chunkTokens).toEqual([null]);
  });

  it('counts the tokens of each choice on its own, and all of them at the end', () => {
    const of = (index: number, content: string, tokens: number, finish_reason: string | null = null) => ({
      choices: [{index, delta: {content}, finish_reason}],
      usage: usage(tokens),
    });
    const reads = [of(0, 'a', 1), of(1, 'X', 2), of(0, 'b', 3, 'stop'), of(1, 'Y', 5, 'stop')];
    const record = read([...reads, {choices: [], usage: usage(8)}, done], 2);
    expect(record).toMatchObject({chunkTokens: [1, 2, 2, 3], completionTokens: 8, content: 'ab', otherTexts: 'XY'});
    expect(read([...reads, done], 2).completionTokens).toBe(8);
  });

  it('trusts no running counts that make more tokens than there are', () => {
    const counted = (index: number, tokens: number) => ({
      choices: [{index, delta: {content: 'x'}, finish_reason: 'stop'}],
      usage: usage(tokens),
    });
    const record = read([counted(0, 1), counted(1, 2), counted(0, 3), {choices: [], usage: usage(3)}, done], 2);
    expect(record).toMatchObject({chunkTokens: [null, null, null], completionTokens: 3});
    const lastOnly = read([text('a'), text('b'), text('c', usage(3)), end, done]);
    expect(lastOnly).toMatchObject({chunkTokens: [null, null, null], completionTokens: 3});
  });

  it('does not believe that an answer with output has no tokens', () => {
    const record = read([text('a', usage(0)), text('b', usage(0)), end, {choices: [], usage: usage(0)}, done]);
    expect(record).toMatchObject({completionTokens: null, tokenCountSource: 'events', chunkTokens: [null, null]});
  });

  it('reads usage that comes together with the last choice', () => {
    expect(read([text('a'), {...end, usage: usage(1)}, done]).completionTokens).toBe(1);
  });
});

describe('what is no success', () => {
  it.each([
    ['a stream that breaks off', [role, text('a')], 'truncated'],
    ['an end without a finish reason', [role, text('a'), done], 'truncated'],
    ['a role and an end', [role, done], 'empty'],
    ['a finish without output', [role, end, done], 'empty'],
    ['an error event', [role, text('a'), {error: {message: 'broken'}}, done], 'error_event'],
    ['an error event of older servers', [role, text('a'), {object: 'error', message: 'broken'}, done], 'error_event'],
    ['an event that is no JSON', [role, 'data: {nope\n\n', end, done], 'malformed'],
    ['an event of another kind', ['data: {"choices": 3}\n\n', done], 'malformed'],
  ])('%s', (_name, reads, type) => {
    expect(read(reads).failure?.type).toBe(type);
  });

  it('keeps the message of the server', () => {
    expect(read([{error: {message: 'broken'}}]).failure?.message).toBe('broken');
    expect(read([{object: 'error', message: 'broken', code: 500}]).failure?.message).toBe('broken');
  });

  it('wants an end of every choice', () => {
    const second = {choices: [{index: 1, delta: {content: 'b'}, finish_reason: 'length'}]};
    expect(read([text('a'), end, done], 2).failure?.type).toBe('truncated');
    expect(read([text('a'), end, second, done], 2).failure).toBeNull();
  });

  it('is a stream without [DONE] that is whole otherwise: some servers send none', () => {
    expect(read([text('a'), end]).failure).toBeNull();
  });
});

describe('bytes', () => {
  const content = 'grüße 🦄 你好';
  const stream = [
    ': comment\r\n\r\n',
    `event: message\ndata:${JSON.stringify(text(content))}\r\n\r\n`,
    `id: 3\ndata: {"choices": [{"delta":\ndata: {"content": "!"}}]}\n\n`,
    `data: ${JSON.stringify(end)}\n`,
    'data: [DONE]\n\n',
  ].join('');

  it('read the same however they are cut', () => {
    const bytes = Buffer.from(stream);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), {maxLength: 30}), (cuts) => {
        const record = openRecord(plannedRequest(), 0, 0);
        const reader = new AnswerReader(record, {numChoices: 1});
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        for (let i = 1; i < places.length; i++) reader.push(bytes.subarray(places[i - 1], places[i]), i);
        reader.finish(99);
        expect(record).toMatchObject({content: `${content}!`, failure: null, finishReason: 'stop'});
      }),
    );
  });

  it('are copied, as a socket may use its buffer again', () => {
    const record = openRecord(plannedRequest(), 0, 0);
    const reader = new AnswerReader(record, {numChoices: 1});
    const buffer = Buffer.from(stream);
    const half = buffer.subarray(0, 60);
    const rest = Buffer.from(buffer.subarray(60));
    reader.push(half, 1);
    half.fill(0x20);
    reader.push(rest, 2);
    reader.finish(3);
    expect(record.content).toBe(`${content}!`);
  });
});
