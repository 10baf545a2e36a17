import {describe, expect, it} from 'vitest';
import type {AnswerFormats} from '../../../src/core/answer-reader.ts';
import {structuredOutputsConfigSchema} from '../../../src/core/config/structured-outputs-config.ts';
import {builtInFormats} from '../../../src/core/parsers/built-in-formats.ts';
import type {ReasoningFormat} from '../../../src/core/parsers/format.ts';
import {parseChatCompletionRequest} from '../../../src/core/protocol/openai/chat-completion.ts';
import {embeddedTokenizer} from '../../support/embedded-model.ts';
import {createScriptedLlm, type ScriptedLlmOptions} from '../../support/scripted-llm.ts';

const isReasoning = (name: string) => (format: {kind: string; names: readonly string[]}) =>
  format.kind === 'reasoning' && format.names.includes(name);

function thinking(name: string): AnswerFormats {
  const reasoning = builtInFormats.find(isReasoning(name)) as ReasoningFormat;
  return {tool: null, reasoning, stopSparesReasoning: false, strictLevel: 'auto'};
}

/** What the engine is told to hold the answer to. */
async function constraintOf(body: Record<string, unknown>, options: ScriptedLlmOptions = {}) {
  const {llm, engine} = await createScriptedLlm(options);
  const request = parseChatCompletionRequest({
    messages: [{role: 'user', content: 'Hi'}],
    structured_outputs: {json: {type: 'object'}},
    ...body,
  });
  const chat = await llm.startChat(request, {requestId: 'r', signal: new AbortController().signal});
  await chat.events.next();
  await chat.events.return();
  return engine.requests[0]!.sampling.constraint!;
}

const configOf = (given: Record<string, unknown>) => structuredOutputsConfigSchema.parse(given);

describe('the constraint of an answer', () => {
  it('begins with the first token', async () => {
    expect(await constraintOf({})).toMatchObject({startsAfter: [], headerEnd: [], disablesAnyWhitespace: false});
  });

  it('begins behind the thought', async () => {
    const tokenizer = await embeddedTokenizer();
    const end = await tokenizer.encode('</think>', {addSpecialTokens: false});
    const formats = thinking('deepseek_r1');
    expect(await constraintOf({}, {formats})).toMatchObject({startsAfter: end, headerEnd: []});
    const structuredOutputsConfig = configOf({enable_in_reasoning: true});
    expect(await constraintOf({}, {formats, structuredOutputsConfig})).toMatchObject({startsAfter: []});
  });

  it('begins behind the header of the final message', async () => {
    const tokenizer = await embeddedTokenizer();
    const [startsAfter, headerEnd] = await Promise.all(
      ['<|channel|>final', '<|message|>'].map((mark) => tokenizer.encode(mark, {addSpecialTokens: false})),
    );
    expect(await constraintOf({}, {formats: thinking('openai_gptoss')})).toMatchObject({startsAfter, headerEnd});
  });

  it('follows what the server disables', async () => {
    const structuredOutputsConfig = configOf({
      backend: 'guidance',
      disable_any_whitespace: true,
      disable_additional_properties: true,
    });
    expect(await constraintOf({}, {structuredOutputsConfig})).toMatchObject({
      disablesAnyWhitespace: true,
      disablesAdditionalProperties: true,
    });
  });
});

describe('--structured-outputs-config', () => {
  it.each([
    [{backend: 'magic'}, 'backend: Invalid option'],
    [{enable_in_reasoning: 'yes'}, 'enable_in_reasoning: Invalid input: expected boolean'],
    [{reasoning_parser: 'qwen3'}, 'reasoning_parser: is said by --reasoning-parser'],
    [{other: 1}, 'reasoning_parser_plugin, disable_fallback; not other'],
  ])('refuses %j', (given, message) => {
    expect(structuredOutputsConfigSchema.safeParse(given).error?.issues[0]?.message).toContain(message);
  });
});
