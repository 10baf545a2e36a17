/** What tools hold an answer to, for formats whose calls cannot be demanded in the usual way. */
import {describe, expect, it} from 'vitest';
import {callConstraint} from '../../../src/core/call-constraint.ts';
import {ParserRegistry} from '../../../src/core/parsers/registry.ts';

const registry = new ParserRegistry();
const named = {type: 'function' as const, function: {name: 'now'}};
const tool = (name: string, more = {}) => ({
  type: 'function' as const,
  function: {name, description: null, parameters: {type: 'object', ...more}, strict: null},
});

function demand(parser: string, choice: 'required' | typeof named, given: object = {}, tools = [tool('now')]) {
  const format = {...registry.toolFormat(parser), ...given};
  return callConstraint(
    {tools, tool_choice: choice, parallel_tool_calls: true} as unknown as Parameters<typeof callConstraint>[0],
    {format, level: 'auto', mayThink: false, variables: {}},
  );
}

const refusal = (run: () => unknown): object => {
  try {
    run();
  } catch (error) {
    return error as object;
  }
  return {message: 'nothing was refused'};
};

describe('demanded calls', () => {
  it.each([
    ['required', 'required'],
    [named, 'named'],
  ] as const)('are refused by hf, whose template binds nothing (%s)', (choice, word) => {
    expect(refusal(() => demand('hf', choice))).toMatchObject({
      name: 'ValidationError',
      message: `response_template parsing cannot guarantee ${word} tool choice for this request`,
      param: 'tool_choice',
    });
  });

  it('are left to the model in the markup of muse', () => {
    expect(demand('muse', 'required')).toBeNull();
    expect(demand('muse_glimmer', named)).toBeNull();
  });

  it('are JSON where the markup is not held, but kimi_k3 names no function in JSON', () => {
    const asJson = {forcedCalls: 'json'};
    expect(demand('kimi_k3', 'required', asJson)?.json).toMatchObject({type: 'array', minItems: 1});
    expect(refusal(() => demand('kimi_k3', named, asJson))).toMatchObject({param: 'tool_choice'});
    expect(demand('hermes', named, asJson)?.json).toEqual({type: 'object'});
  });

  it('are refused when two tools define the same name in two ways', () => {
    const tools = [tool('now', {$defs: {a: {type: 'string'}}}), tool('then', {$defs: {a: {type: 'number'}}})];
    expect(refusal(() => demand('pythonic', 'required', {}, tools))).toMatchObject({
      message: "Tool definition 'a' has multiple schemas, which is not supported.",
    });
  });
});
