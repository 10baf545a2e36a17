/** Formats that a checkpoint describes: content kinds, variable openers, prompts that opened a field, refused templates. */
import {describe, expect, it} from 'vitest';
import {createOutputParser} from '../../../../../src/core/parsers/create-output-parser.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';
import {foldPieces} from '../../../../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../../../../src/core/parsers/registry.ts';
import {checkResponseTemplate} from '../../../../../src/core/parsers/response-template/formats.ts';

const registry = new ParserRegistry();
const formats = {tool: registry.toolFormat('hf'), reasoning: registry.reasoningFormat('hf')};
const parameters = {type: 'object', properties: {n: {type: 'integer'}, s: {type: 'string'}}};
const namedFunction = {type: 'function', function: {name: '{name}', arguments: '{content}'}};

function parse(pieces: readonly string[], fields: object, promptTail = '') {
  const context = parserContext({
    tools: [{name: 'f', parameters}],
    responseTemplate: {start_anchor: '<bot>', fields},
    promptTail,
  });
  const parser = createOutputParser(formats, context);
  const folded = foldPieces([...pieces.flatMap((piece) => parser.push(piece)), ...parser.finish('stop')]);
  return {
    content: folded.content,
    reasoning: folded.reasoning,
    calls: folded.toolCalls.map(({name, argumentsText}) => `${name}(${argumentsText})`),
  };
}

/** Whole, in every two pieces and character by character. */
function parseInAllCuts(output: string, fields: object, promptTail?: string) {
  const whole = parse([output], fields, promptTail);
  expect(parse([...output], fields, promptTail)).toEqual(whole);
  for (let at = 1; at < output.length; at++) {
    expect(parse([output.slice(0, at), output.slice(at)], fields, promptTail)).toEqual(whole);
  }
  return whole;
}

const qwen = {
  tool_calls: {
    open_pattern: '<tool_call>\\s*<function=(?P<name>\\w+)>',
    close: '</tool_call>',
    content: 'xml-inline',
    content_args: {
      tag_pattern: '<parameter=(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</parameter>',
      value_parser: {name: 'json', args: {allow_non_json: true}},
    },
    transform: namedFunction,
  },
  content: {},
};

const harmony = {
  thinking: {open: '<|channel|>analysis<|message|>', close: '<|end|>'},
  tool_calls: {
    open_pattern: '<\\|channel\\|>commentary to=functions\\.(?P<name>\\w+).*?<\\|message\\|>',
    close: '<|call|>',
    content: 'json',
    transform: namedFunction,
  },
  content: {open: '<|channel|>final<|message|>', close: ['<|end|>', 'eos']},
};

const cohere = {
  tool_calls: {
    open: '<|A|>',
    close: '<|/A|>',
    content: 'json',
    transform_each: true,
    transform: {type: 'function', function: {name: '{tool_name}', arguments: '{parameters}'}},
  },
  content: {open: '<|T|>', close: '<|/T|>'},
};

describe('templates of checkpoints', () => {
  it('reads tags whose opener has blanks and a name in it', () => {
    const output =
      'Hi <tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n<parameter=s>\n7\n</parameter></tool_call>!';
    expect(parseInAllCuts(output, qwen)).toEqual({content: 'Hi !', reasoning: '', calls: ['f({"n": 7, "s": "7"})']});
  });

  it('gives the text of an opener back that does not fit its pattern', () => {
    expect(parseInAllCuts('a <tool_call>no <b> c', qwen)).toMatchObject({content: 'a <tool_call>no <b> c', calls: []});
  });

  it('reads channels with names in their headers', () => {
    const call = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"n": 1}<|call|>';
    const output = `<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Yes.<|end|>${call}`;
    expect(parseInAllCuts(output, harmony)).toEqual({content: 'Yes.', reasoning: 'Hm.', calls: ['f({"n": 1})']});
  });

  it('reads arrays of calls whose keys the template names', () => {
    const output =
      '<|A|>[{"tool_name": "f", "parameters": {"n": 1}}, {"tool_name": "g", "parameters": {}}]<|/A|><|T|>ok<|/T|>';
    expect(parseInAllCuts(output, cohere)).toEqual({content: 'ok', reasoning: '', calls: ['f({"n": 1})', 'g({})']});
  });

  it('reads lines of keys and values', () => {
    const fields = {
      tool_calls: {open_pattern: '<c (?P<name>\\w+)>', close: '</c>', content: 'kv-lines', transform: namedFunction},
      content: {},
    };
    const output = '<c f>\nn: 5\n\nno pair\ns: a:b\n</c>\n';
    expect(parseInAllCuts(output, fields).calls).toEqual(['f({"n": 5, "s": "a:b"})']);
  });

  it('reads objects with quotes of their own', () => {
    const fields = {
      tool_calls: {
        open_pattern: '<\\|tool_call>call:(?P<name>\\w+)',
        close: '<tool_call|>',
        content: 'json',
        content_args: {unquoted_keys: true, string_delims: [['<|"|>', '<|"|>']]},
        transform: namedFunction,
      },
      content: {},
    };
    const output = '<|tool_call>call:f{n:3,s:<|"|>a "b"<|"|>}<tool_call|>';
    expect(parseInAllCuts(output, fields).calls).toEqual(['f({"n": 3, "s": "a \\"b\\""})']);
  });

  it.each([
    ['<bot><|channel|>analysis<|message|>', {reasoning: 'x', content: ''}],
    ['<bot><|channel|>analysis<|message|>y<|end|><|channel|>final<|message|>', {reasoning: '', content: 'x'}],
    ['<|channel|>analysis<|message|><bot><|channel|>final<|message|>', {reasoning: '', content: 'x'}],
  ])('goes on with the field that the prompt %j left open', (prompt, expected) => {
    expect(parseInAllCuts('x', harmony, prompt)).toMatchObject(expected);
  });

  it('goes on with a call that the prompt opened', () => {
    const prompt = '<bot><|channel|>commentary to=functions.f <|message|>';
    expect(parseInAllCuts('{"n": 2}', harmony, prompt).calls).toEqual(['f({"n": 2})']);
  });

  it('takes a closer for closed when only the anchor of the next turn is missing', () => {
    expect(parseInAllCuts('Hello<end>\n', {content: {close: '<end>\n<bot>'}})).toMatchObject({content: 'Hello'});
  });

  it.each([
    [{fields: {}}, /no fields/],
    [{fields: {content: {}, thinking: {}}}, /only one field/],
    [{fields: {tool_calls: {open_pattern: '(?P<name>\\w+):', close: 'x', content: 'json'}}}, /fixed text/],
    [{fields: {tool_calls: {open: '<c>', content: 'kv-lines'}}}, /named group/],
    [{fields: {content: {close_pattern: '<e(nd)?>'}}}, /fixed text/],
    [{fields: {content: {what: 1}}}, /what/],
    [undefined, /object/],
  ])('refuses %j', (template, reason) => {
    expect(() => checkResponseTemplate(template)).toThrow(/^Invalid response_template metadata: /);
    expect(() => checkResponseTemplate(template)).toThrow(reason);
  });
});
