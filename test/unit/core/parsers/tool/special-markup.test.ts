/** Less common spellings of calls and answers, in any cut: suffixed markers, wrappers, objects in blocks, inner quotes. */
import {describe, expect, it} from 'vitest';
import {createOutputParser} from '../../../../../src/core/parsers/create-output-parser.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';
import {foldPieces} from '../../../../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../../../../src/core/parsers/registry.ts';

const registry = new ParserRegistry();
const tools = [{name: 'f', parameters: {type: 'object', properties: {n: {type: 'integer'}, s: {type: 'string'}}}}];

function parse(pieces: readonly string[], name: string) {
  const parser = createOutputParser({tool: registry.toolFormat(name)}, parserContext({tools}));
  const {content, toolCalls} = foldPieces([...pieces.flatMap((piece) => parser.push(piece)), ...parser.finish('stop')]);
  return {content, calls: toolCalls.map((call) => `${call.name}(${call.argumentsText})`)};
}

function parseInAllCuts(output: string, name: string) {
  const whole = parse([output], name);
  expect(parse([...output], name)).toEqual(whole);
  for (let at = 1; at < output.length; at++) {
    expect(parse([output.slice(0, at), output.slice(at)], name)).toEqual(whole);
  }
  return whole;
}

const dsml = (...parameters: string[]) =>
  `<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n${parameters.join('\n')}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`;
const parameter = (key: string, value: string, isText = false) =>
  `<｜DSML｜parameter name="${key}" string="${isText}">${value}</｜DSML｜parameter>`;
const suffixed = (suffix: string, separator: string) =>
  '<tool_calls>\n<tool_call>f<sep>\n<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>\n</tool_calls>'
    .replace('<sep>', separator)
    .replaceAll('>', `${suffix}>`);

describe('special markup', () => {
  it.each([
    ['hy_v4', ''],
    ['hy_v3', '<tool_sep>'],
  ])('%s reads markers with a suffix', (name, separator) => {
    const output = `Hi ${suffixed(':opensource', separator)}${suffixed('', separator)}`;
    expect(parseInAllCuts(output, name)).toEqual({content: 'Hi ', calls: ['f({"n": 5})', 'f({"n": 5})']});
  });

  it('hy_v4 leaves text alone that only begins like a marker', () => {
    expect(parseInAllCuts('a <tool_calls: b> c', 'hy_v4')).toEqual({content: 'a <tool_calls: b> c', calls: []});
  });

  it.each([
    [dsml(parameter('arguments', '{"n": 1}')), 'f({"n": 1})'],
    [dsml(parameter('input', ' {"s": "x"}\n', true)), 'f({"s": "x"})'],
    [dsml(parameter('input', 'plain', true)), 'f({"input": "plain"})'],
    [dsml(parameter('arguments', '{"n": 1}'), parameter('s', 'x', true)), 'f({"arguments": {"n": 1}, "s": "x"})'],
    [dsml(parameter('s', 'x', true), parameter('arguments', '{}')), 'f({"s": "x", "arguments": {}})'],
  ])('deepseek_v32 unwraps a lone wrapper: %j', (output, call) => {
    expect(parseInAllCuts(output, 'deepseek_v32').calls).toEqual([call]);
  });

  it.each([
    ['<![CDATA[a </param> <b>]]>', 'f({"s": "a </param> <b>"})'],
    ['\n<![CDATA[]]>\n', 'f({"s": ""})'],
    ['<![CDAT', 'f({"s": "<![CDAT"})'],
    ['x <![CDATA[y]]>', 'f({"s": "x <![CDATA[y]]>"})'],
    ['', 'f({"s": ""})'],
  ])('minicpm5 reads the value %j', (value, call) => {
    const output = `a<function name="f"><param name="s">${value}</param><param name="n">3</param></function>`;
    expect(parseInAllCuts(output, 'minicpm5').calls).toEqual([call.replace('})', ', "n": 3})')]);
  });

  it('dots reads JSON objects in a block', () => {
    const output = 'a<dots_function_call>\n{"name": "f", "arguments": {"n": 1}}\n</dots_function_call>b';
    expect(parseInAllCuts(output, 'dots')).toEqual({content: 'ab', calls: ['f({"n": 1})']});
  });

  it('dots shows objects of functions that are not declared', () => {
    const output = '<dots_function_call>{"name": "g", "arguments": {}}</dots_function_call>';
    expect(parseInAllCuts(output, 'dots')).toMatchObject({calls: []});
    expect(parse([output], 'dots').content).toContain('"g"');
  });

  it.each([
    ['[f(s="say "hi" now", n=2)]', 'f({"s": "say \\"hi\\" now", "n": 2})'],
    ["[f(s='it's', n=007)]", 'f({"s": "it\'s", "n": 7})'],
    ['[f(s="a\nb", class=1)]', 'f({"s": "a\\nb", "class": 1})'],
    ['[f(s="")]', 'f({"s": ""})'],
  ])('lfm2 repairs %j', (list, call) => {
    const output = `<|tool_call_start|>${list}<|tool_call_end|>`;
    expect(parseInAllCuts(output, 'lfm2')).toEqual({content: '', calls: [call]});
  });
});

describe('force_nonempty_content', () => {
  const read = (output: string, kwargs: Record<string, unknown>) => {
    const reasoning = registry.reasoningFormat('nemotron_v3');
    const parser = createOutputParser({reasoning}, parserContext({chatTemplateKwargs: kwargs}));
    const folded = foldPieces([...parser.push(output), ...parser.finish('length')]);
    return [folded.reasoning, folded.content];
  };

  it('gives a lone thought as content, too', () => {
    expect(read('only a thought', {force_nonempty_content: true})).toEqual(['only a thought', 'only a thought']);
    expect(read('thought</think>\n', {force_nonempty_content: true})[1]).toContain('thought');
  });

  it('leaves other answers alone', () => {
    expect(read('a</think>b', {force_nonempty_content: true})).toEqual(['a', 'b']);
    expect(read('only a thought', {})).toEqual(['only a thought', '']);
  });
});
