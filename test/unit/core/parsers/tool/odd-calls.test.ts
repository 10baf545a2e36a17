/** Habits of single models: calls said twice, parameters that nobody declared. The same in every cut. */
import {describe, expect, it} from 'vitest';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';
import {ParserRegistry} from '../../../../../src/core/parsers/registry.ts';
import {foldParse} from '../../../../support/parser-fuzz.ts';

const registry = new ParserRegistry();
const properties = {city: {type: 'string'}, days: {type: 'integer'}};
const context = parserContext({tools: [{name: 'f', parameters: {type: 'object', properties}}, {name: 'g'}]});

function read(name: string, output: string) {
  const formats = {tool: registry.toolFormat(name)};
  const whole = foldParse(formats, [output], context);
  for (let at = 0; at <= output.length; at++) {
    const cut = foldParse(formats, [output.slice(0, at), output.slice(at)], context);
    expect(withoutIds(cut)).toEqual(withoutIds(whole));
  }
  expect(withoutIds(foldParse(formats, [...output], context))).toEqual(withoutIds(whole));
  return withoutIds(whole);
}

const withoutIds = ({content, toolCalls}: ReturnType<typeof foldParse>) => ({
  content,
  calls: toolCalls.map((call) => [call.name, call.argumentsText]),
});

describe('lfm2', () => {
  const call = '<|tool_call_start|>[f(city="a")]<|tool_call_end|>';
  const calls = [['f', '{"city": "a"}']];

  it('drops an echo of the calls behind them', () => {
    expect(read('lfm2', `${call}[f(city="a")]<|tool_call_end|>`)).toEqual({content: '', calls});
    expect(read('lfm2', `${call}\n[f(city="a")]<|tool_call_end|> Done.`)).toMatchObject({calls});
    expect(read('lfm2', `${call}\n[f(city="a")]<|tool_call_end|> Done.`).content.trim()).toBe('Done.');
  });

  it('keeps text in brackets that is none, and further calls', () => {
    expect(read('lfm2', `${call}[1] says so`)).toEqual({content: '[1] says so', calls});
    expect(read('lfm2', `${call}[1] ${call}`)).toEqual({content: '[1] ', calls: [...calls, ...calls]});
  });
});

describe('minicpm5', () => {
  const call = (...parameters: string[]) => `<function name="f">${parameters.join('')}</function>`;
  const parameter = (key: string, value: string) => `<param name="${key}">${value}</param>`;

  it('leaves out parameters that are not declared, and takes the first of two', () => {
    const output = call(parameter('x', '1'), parameter('city', 'a'), parameter('y', 'b'), parameter('city', 'c'));
    expect(read('minicpm5', output)).toEqual({content: '', calls: [['f', '{"city": "a"}']]});
    expect(read('minicpm5', call(parameter('x', '1')))).toEqual({content: '', calls: [['f', '{}']]});
  });

  it('takes all of them for a tool that declares none', () => {
    const output = `<function name="g">${parameter('x', '1')}</function>`;
    expect(read('minicpm5', output)).toEqual({content: '', calls: [['g', '{"x": "1"}']]});
  });
});
