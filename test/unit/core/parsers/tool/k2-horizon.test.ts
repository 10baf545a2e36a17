/** Calls of a group count only together: one that breaks a rule makes the whole group text, in any cut. */
import {describe, expect, it} from 'vitest';
import {createOutputParser} from '../../../../../src/core/parsers/create-output-parser.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';
import {foldPieces} from '../../../../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../../../../src/core/parsers/registry.ts';

const format = new ParserRegistry().toolFormat('k2_horizon');
const group = (...calls: string[]) => `<ifm|tool_calls>\n${calls.join('\n')}\n</ifm|tool_calls>`;
const call = (inner: string) => `<ifm|tool_call>f\n${inner}\n</ifm|tool_call>`;
const pair = (key: string, value: string, type = '') =>
  `<ifm|arg_key>${key}</ifm|arg_key>${type}<ifm|arg_value>${value}</ifm|arg_value>`;
const object = (json: string) => `<ifm|tool_call>\n${json}\n</ifm|tool_call>`;

function parse(pieces: readonly string[], dialect: string) {
  const context = parserContext({tools: [{name: 'f'}], chatTemplateKwargs: {tool_call_format: dialect}});
  const parser = createOutputParser({tool: format}, context);
  const {content, toolCalls} = foldPieces([...pieces.flatMap((piece) => parser.push(piece)), ...parser.finish('stop')]);
  return {content, calls: toolCalls.map(({argumentsText}) => argumentsText)};
}

function parseInAllCuts(output: string, dialect: string) {
  const whole = parse([output], dialect);
  expect(parse([...output], dialect)).toEqual(whole);
  return whole;
}

describe('k2_horizon', () => {
  it('types what the tool does not declare as the model says', () => {
    const typed = pair('n', '4', '<ifm|arg_type>number</ifm|arg_type>');
    expect(parseInAllCuts(`Hi ${group(call(typed), call(''))}`, 'xml_typed')).toEqual({
      content: 'Hi ',
      calls: ['{"n": 4}', '{}'],
    });
  });

  it.each([
    ['xml', group(call(pair('a', '1')), call('<ifm|arg_key>b</ifm|arg_key><ifm|arg_value>2'))],
    ['xml', group(call(pair('a', '1')), call('stray text'))],
    ['xml', group(call(pair('a', '1') + pair('a', '2')))],
    ['xml', group(call(pair('a', '1')), 'between')],
    ['xml', group()],
    ['xml', group(call(pair('a', '1'))).slice(0, -20)],
    ['json', group(object('{"name": "f", "arguments": {}}'), object('{"name": "unknown", "arguments": {}}'))],
    ['json', group(object('{"name": "f", "arguments": {"a": nope}}'))],
    ['json', group(object('{"name": "f", "arguments": [1]}'))],
  ])('%s: a broken call makes all of %j text', (dialect, output) => {
    expect(parseInAllCuts(`Hi ${output}`, dialect)).toEqual({content: `Hi ${output}`, calls: []});
  });
});
