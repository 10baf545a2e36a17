/**
 * Faults that users of other servers reported, at the parser: hermes calls and qwen3 thoughts, whole, in small pieces and
 * in every cut in two.
 */
import {describe, expect, it} from 'vitest';
import {createOutputParser} from '../../../../src/core/parsers/create-output-parser.ts';
import {type ParserContext, parserContext} from '../../../../src/core/parsers/output-parser.ts';
import {foldPieces, type ParsedPiece} from '../../../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../../../src/core/parsers/registry.ts';

const registry = new ParserRegistry();
const formats = {tool: registry.toolFormat('hermes'), reasoning: registry.reasoningFormat('qwen3')};
const tools = [{name: 'get_weather'}, {name: 'ping'}];
const call = (name: string, json: string) => `<tool_call>\n{"name":"${name}","arguments":${json}}\n</tool_call>`;
const OSLO = call('get_weather', '{"city":"Oslo"}');
const ROME = call('get_weather', '{"city":"Rome"}');
const OFF = {chatTemplateKwargs: {enable_thinking: false}};

function piecesOf(pieces: readonly string[], given: Partial<ParserContext>, finish: 'stop' | 'length'): ParsedPiece[] {
  const parser = createOutputParser(formats, parserContext({tools, ...given}));
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.finish(finish)];
}

function fold(pieces: readonly string[], given: Partial<ParserContext>, finish: 'stop' | 'length') {
  const {content, reasoning, toolCalls} = foldPieces(piecesOf(pieces, given, finish));
  return {
    content: content.trim(),
    reasoning,
    calls: toolCalls.map(({name, argumentsText}) => [name, argumentsText]),
    numIds: new Set(toolCalls.map(({id}) => id)).size,
  };
}

/** The same in every cut. */
function parse(output: string, given: Partial<ParserContext> = OFF, finish: 'stop' | 'length' = 'stop') {
  const whole = fold([output], given, finish);
  const cuts = [1, 2, 3].map((length) => output.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? []);
  for (let at = 1; at < output.length; at++) cuts.push([output.slice(0, at), output.slice(at)]);
  for (const cut of cuts) expect(fold(cut, given, finish)).toEqual(whole);
  return whole;
}

describe('reported faults of tool calls', () => {
  it.each([
    ['two calls', OSLO + ROME],
    ['the same function twice', `${OSLO}\n${ROME}`],
  ])('keeps %s apart', (_case, output) => {
    const {calls, numIds, content} = parse(output);
    expect(calls).toEqual([
      ['get_weather', '{"city":"Oslo"}'],
      ['get_weather', '{"city":"Rome"}'],
    ]);
    expect({numIds, content}).toEqual({numIds: 2, content: ''});
  });

  it.each([
    ['no arguments', '{}'],
    ['arrays of objects', '{"items":[{"a":1},{"b":[2,{"c":"}"}]}],"note":"]["}'],
    ['braces in a string', '{"cmd":"mkdir -p t/{a,b"}'],
    ['a marker in a string', '{"s":"a </tool_call> b"}'],
  ])('keeps %s', (_case, json) => {
    expect(parse(call('ping', json)).calls).toEqual([['ping', json]]);
  });

  it('shows text in front of a call and no piece of a tag', () => {
    expect(parse(`Let me look. ${OSLO}`).content).toBe('Let me look.');
  });

  it('keeps only the first call when calls are not parallel', () => {
    expect(parse(OSLO + ROME, {...OFF, parallelToolCalls: false}).calls).toEqual([['get_weather', '{"city":"Oslo"}']]);
  });

  it('shows no markup of a call that a limit cut off', () => {
    for (let length = '<tool_call>'.length; length < OSLO.length; length++) {
      const {content, calls} = parse(OSLO.slice(0, length), {...OFF, hidesCutMarkup: true}, 'length');
      expect(content).toBe('');
      expect('{"city":"Oslo"}'.startsWith(calls[0]?.[1]?.replace('{}', '') ?? '')).toBe(true);
    }
  });

  it('tells the name at once and long arguments while they grow', () => {
    const output = call('ping', JSON.stringify({text: 'word '.repeat(80)}));
    const types = piecesOf(output.match(/[\s\S]{1,4}/g) ?? [], OFF, 'stop').map(({type}) => type);
    expect(types.filter((type) => type === 'tool-call-start')).toHaveLength(1);
    expect(types.filter((type) => type === 'tool-call-delta').length).toBeGreaterThan(50);
  });
});

describe('reported faults of thoughts', () => {
  it('keeps a thought that a limit cut off', () => {
    const given = {promptTail: '<|im_start|>assistant\n<think>\n'};
    expect(parse('a thought that goes', given, 'length')).toMatchObject({
      content: '',
      reasoning: 'a thought that goes',
    });
  });

  it('reads no thought when thinking is off', () => {
    expect(parse('plain answer')).toMatchObject({content: 'plain answer', reasoning: ''});
  });

  it('parts thought and answer', () => {
    expect(parse('<think>plan</think>answer', {})).toMatchObject({content: 'answer', reasoning: 'plan'});
  });
});
