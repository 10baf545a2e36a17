import {describe, expect, it} from 'vitest';
import {callConstraint} from '../../../../../src/core/call-constraint.ts';
import {toOutputConstraint} from '../../../../../src/core/structured-output/request-constraint.ts';
import {answerFormats} from '../../../../support/answer-formats.ts';
import {accepts} from '../../../../support/constrained-text.ts';

const tagPattern = '<arg=(?P<key>[^>]+)>(?P<value>.*?)</arg>';
const tagged = {
  open_pattern: '<call:(?P<name>[\\w.-]+)>',
  close: '</call>',
  content: 'xml-inline',
  content_args: {tag_pattern: tagPattern, value_parser: {name: 'text', args: {strip: false}}},
};
const asJson = {open_pattern: '<call:(?P<name>\\w+)>', close: '</call>', content: 'json'};
const tooFree = {...tagged, open_pattern: '<call:(?P<name>\\w+)#\\d+>'};

const parameters = {type: 'object', properties: {city: {enum: ['Oslo']}, n: {type: 'integer'}}, required: ['city']};
const tools = [{type: 'function', function: {name: 'f', description: null, parameters, strict: true}}];
const named = {type: 'function', function: {name: 'f'}};

async function demanded(calls: object, choice: unknown = 'required') {
  const responseTemplate = {fields: {tool_calls: calls, content: {open: '<answer>', close: '</answer>'}}};
  const {tool} = (await answerFormats('beam', null, {}, {responseTemplate}))!;
  const request = {tools, tool_choice: choice, parallel_tool_calls: true} as never;
  const stated = callConstraint(request, {format: tool!, level: 'auto', mayThink: false, variables: {}})!;
  return toOutputConstraint(stated, {startsAfter: [], headerEnd: []})!;
}

describe('calls that a checkpoint describes', () => {
  it('are demanded with arguments in tags', async () => {
    const constraint = await demanded(tagged);
    const call = '<call:f><arg=city>Oslo</arg></call>';
    expect(accepts(constraint, call)).toBe(true);
    expect(accepts(constraint, `${call}<call:f><arg=city>Oslo</arg><arg=n>3</arg></call>`)).toBe(true);
    for (const wrong of ['<answer>Hi</answer>', '<call:g></call>', '<call:f><arg=city>Rome</arg></call>'])
      expect(accepts(constraint, wrong)).toBe(false);
  });

  it('are demanded with arguments as JSON', async () => {
    const constraint = await demanded(asJson, named);
    expect(accepts(constraint, '<call:f>{"city": "Oslo"}</call>')).toBe(true);
    expect(accepts(constraint, '<call:f>{"city": "Rome"}</call>')).toBe(false);
  });

  it('are refused where the description is too free', async () => {
    await expect(demanded(tooFree)).rejects.toThrow(
      'response_template parsing cannot guarantee required tool choice for this request',
    );
    await expect(demanded(tooFree, named)).rejects.toThrow('cannot guarantee named tool choice');
  });
});
