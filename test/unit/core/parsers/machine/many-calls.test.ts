/** A whole answer arrives in one piece: the time for many calls in it must grow with their number, not with its square. */
import {expect, it} from 'vitest';
import {createOutputParser} from '../../../../../src/core/parsers/create-output-parser.ts';
import {parserContext} from '../../../../../src/core/parsers/output-parser.ts';
import {foldPieces} from '../../../../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../../../../src/core/parsers/registry.ts';

const registry = new ParserRegistry();
const NUM_CALLS = 15_000;
/** Quadratic reading takes more than ten seconds, linear reading well under one. */
const MOST_MS = 4000;

const outputs = {
  hermes: '<tool_call>{"name":"f","arguments":{"a":"v"}}</tool_call>'.repeat(NUM_CALLS),
  qwen3_coder: '<tool_call><function=f><parameter=a>v</parameter></function></tool_call>'.repeat(NUM_CALLS),
  k2_horizon: `<ifm|tool_calls>${'<ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>v</ifm|arg_value></ifm|tool_call>'.repeat(NUM_CALLS)}</ifm|tool_calls>`,
};

it.each(Object.entries(outputs))('%s reads thousands of calls at once', (name, output) => {
  const parser = createOutputParser({tool: registry.toolFormat(name)}, parserContext({tools: [{name: 'f'}]}));
  const start = performance.now();
  const {toolCalls} = foldPieces([...parser.push(output), ...parser.finish('stop')]);
  expect(performance.now() - start).toBeLessThan(MOST_MS);
  expect(toolCalls).toHaveLength(NUM_CALLS);
  expect(new Set(toolCalls.map((call) => JSON.stringify(JSON.parse(call.argumentsText))))).toEqual(
    new Set(['{"a":"v"}']),
  );
});
