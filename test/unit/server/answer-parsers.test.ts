import {describe, expect, it} from 'vitest';
import type {AnswerFormats} from '../../../src/core/answer-reader.ts';
import {answerFormats} from '../../support/answer-formats.ts';
import {playTokens} from '../../support/scripted-engine-client.ts';
import {sseEvents} from '../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp} from '../../support/test-app.ts';

closeAppsAfterEach();

type Fields = Record<string, unknown>;
interface Choice {
  delta: Fields;
  message: Fields & {content: string | null; reasoning: string | null; tool_calls?: Fields[]};
  finish_reason: string | null;
  logprobs: unknown;
  token_ids: number[] | null;
}

const weather = {
  type: 'function',
  function: {name: 'get_weather', parameters: {type: 'object', properties: {city: {type: 'string'}}}},
};
const named = {type: 'function', function: {name: 'get_weather'}};
const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Paris"}}\n</tool_call>';
const ID = /^chatcmpl-tool-[0-9a-f]{16}$/;

/** Of a server that has at least one of the two flags. */
async function formats(tool: string | null, reasoning: string | null, enforcesStrictToolCalling = true) {
  return (await answerFormats(tool, reasoning, {enforcesStrictToolCalling}))!;
}

async function ask(answer: string, loaded: AnswerFormats, fields: Fields) {
  const {chat} = await openTestApp({answer, formats: loaded});
  const {body, text} = await chat({tools: [weather], ...fields});
  return {
    body: body as unknown as Fields & {usage: Fields},
    choice: ((body as unknown as {choices?: Choice[]}).choices ?? [])[0] as Choice,
    text,
  };
}

/** Deltas without the role chunk, each with how its choice ended. */
async function stream(answer: string, loaded: AnswerFormats, fields: Fields) {
  const {text} = await ask(answer, loaded, {...fields, stream: true});
  const choices = sseEvents(text).flatMap((event) => (event as unknown as {choices: Choice[]}).choices);
  return choices.slice(1).map(({delta, finish_reason, logprobs, token_ids}) => ({
    delta,
    finish_reason,
    logprobs,
    token_ids,
  }));
}

type Deltas = Awaited<ReturnType<typeof stream>>;
const keysOf = (deltas: Deltas) => [...new Set(deltas.map(({delta}) => Object.keys(delta).join()))];
const callPieces = (deltas: Deltas) =>
  deltas.flatMap(({delta}) => (delta.tool_calls ?? []) as (Fields & {function: Fields})[]);
const joined = (pieces: {function: Fields}[]) => pieces.map((piece) => piece.function.arguments ?? '').join('');

describe('calls in markup', () => {
  it('are announced once, then their arguments come as they were written', async () => {
    const deltas = await stream(`Sure. ${CALL}`, await formats('hermes', null), {});
    const [start, ...rest] = callPieces(deltas);
    expect(start).toEqual({
      id: expect.stringMatching(ID),
      type: 'function',
      index: 0,
      function: {name: 'get_weather'},
    });
    expect(rest.every((piece) => Object.keys(piece).join() === 'index,function')).toBe(true);
    expect(joined(rest)).toBe('{"city":"Paris"}');
    expect(keysOf(deltas)).toEqual(['content', 'content,tool_calls', '']);
    expect(deltas.at(-1)).toMatchObject({delta: {}, finish_reason: 'tool_calls'});
  });

  it('stand in a whole answer beside the text before them, in the blanks of the reference', async () => {
    const {choice} = await ask(`Sure. ${CALL}`, await formats('hermes', null), {});
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message).toEqual({
      role: 'assistant',
      content: 'Sure. ',
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: [
        {
          id: expect.stringMatching(ID),
          type: 'function',
          function: {name: 'get_weather', arguments: '{"city": "Paris"}'},
        },
      ],
      reasoning: null,
    });
  });

  it('leave no content when there was none', async () => {
    const {choice} = await ask(CALL, await formats('hermes', null), {});
    expect(choice.message.content).toBeNull();
  });

  it('that are no JSON are the text of a whole answer and a call of a stream', async () => {
    const broken = '<tool_call>\n{"name": "get_weather", "arguments": oops}\n</tool_call>';
    const loaded = await formats('hermes', null);
    const {choice} = await ask(broken, loaded, {});
    expect(choice).toMatchObject({message: {content: broken}, finish_reason: 'stop'});
    expect(choice.message).not.toHaveProperty('tool_calls');
    expect((await stream(broken, loaded, {})).at(-1)).toMatchObject({finish_reason: 'tool_calls'});
  });

  it('are text when the request wants none, and vanish when its choice is null', async () => {
    const loaded = await formats('hermes', null);
    expect((await ask(CALL, loaded, {tool_choice: 'none'})).choice.message.content).toBe(CALL);
    const dropped = await ask(CALL, loaded, {tool_choice: null});
    expect(dropped.choice).toMatchObject({message: {content: null}, finish_reason: 'stop'});
    expect(dropped.choice.message).not.toHaveProperty('tool_calls');
    expect(callPieces(await stream(CALL, loaded, {tool_choice: null}))).toEqual([]);
  });

  it('end at the first one when a request wants no more', async () => {
    const {choice} = await ask(`${CALL}\n${CALL}`, await formats('hermes', null), {parallel_tool_calls: false});
    expect(choice.message.tool_calls).toHaveLength(1);
  });

  it('keep the reason of an output that was cut, and the stop of a named function', async () => {
    const loaded = await formats('hermes', null);
    const {choice} = await ask(CALL, loaded, {tool_choice: named});
    expect(choice).toMatchObject({message: {content: ''}, finish_reason: 'stop'});
    expect(choice.message.tool_calls).toHaveLength(1);
    const {llm, chat} = await openTestApp({
      script: () => playTokens([9, 9], {finishReason: 'length'}),
      formats: loaded,
    });
    expect(llm.readsToolCalls).toBe(true);
    expect((await chat({tools: [weather]})).body).toMatchObject({choices: [{finish_reason: 'length'}]});
  });

  it('send deltas without news only to who wants every token', async () => {
    const loaded = await formats('hermes', null);
    const plain = await stream(CALL, loaded, {});
    const withIds = await stream(CALL, loaded, {return_token_ids: true});
    expect(withIds.length).toBeGreaterThan(plain.length);
    expect(withIds[0]).toMatchObject({delta: {}, finish_reason: null, token_ids: [expect.any(Number)]});
  });
});

describe('calls as JSON', () => {
  const calls = '[{"name": "get_weather", "parameters": {"city": "Paris"}}]';

  it('carry name and first arguments together, and a name of null later', async () => {
    const deltas = await stream(calls, await formats('hermes', null, false), {tool_choice: 'required'});
    const [start, ...rest] = callPieces(deltas);
    expect(start).toMatchObject({index: 0, function: {name: 'get_weather', arguments: expect.stringMatching(/^\{/)}});
    expect(rest.every((piece) => piece.function.name === null)).toBe(true);
    expect(joined([start!, ...rest])).toBe('{"city": "Paris"}');
    expect(keysOf(deltas)).toEqual(['tool_calls', '']);
    expect(deltas.at(-1)).toMatchObject({finish_reason: 'tool_calls'});
  });

  it('of a named function are its arguments, closed by an empty piece', async () => {
    const loaded = await formats('hermes', null, false);
    const deltas = await stream('{"city":"Paris"}', loaded, {tool_choice: named});
    expect(joined(callPieces(deltas))).toBe('{"city":"Paris"}');
    expect(deltas.at(-1)).toMatchObject({
      delta: {tool_calls: [{index: 0, function: {arguments: ''}}]},
      finish_reason: 'stop',
    });
    const {choice} = await ask('{"city":"Par', loaded, {tool_choice: named});
    expect(choice.message).toMatchObject({content: '', tool_calls: [{function: {arguments: '{"city":"Par'}}]});
  });

  it('that were cut are none', async () => {
    const {choice} = await ask(calls.slice(0, -8), await formats('hermes', null, false), {tool_choice: 'required'});
    expect(choice).toMatchObject({message: {content: ''}, finish_reason: 'stop'});
    expect(choice.message).not.toHaveProperty('tool_calls');
  });
});

describe('thoughts', () => {
  const thought = 'Let me see.</think>It is 4.';

  it('have a field of their own, and usage counts their tokens', async () => {
    const loaded = await formats(null, 'deepseek_r1');
    const {body, choice} = await ask(thought, loaded, {tools: undefined});
    expect(choice.message).toMatchObject({reasoning: 'Let me see.', content: 'It is 4.'});
    const {reasoning_tokens} = body.usage.completion_tokens_details as {reasoning_tokens: number};
    expect(reasoning_tokens).toBeGreaterThan(2);
    expect(keysOf(await stream(thought, loaded, {tools: undefined}))).toEqual(['reasoning', 'content']);
  });

  it('that never end leave no content', async () => {
    const {choice} = await ask('Let me', await formats(null, 'deepseek_r1'), {tools: undefined});
    expect(choice.message).toMatchObject({reasoning: 'Let me', content: null});
  });

  it('are hidden together with everything that tells their tokens', async () => {
    const loaded = await formats(null, 'deepseek_r1');
    const fields = {tools: undefined, include_reasoning: false, logprobs: true, return_token_ids: true};
    const {choice} = await ask(thought, loaded, fields);
    expect(choice).toMatchObject({
      message: {reasoning: null, content: 'It is 4.'},
      logprobs: null,
      token_ids: null,
    });
    const deltas = await stream(thought, loaded, fields);
    expect(keysOf(deltas)).toEqual(['content,reasoning']);
    expect(deltas.every(({logprobs, token_ids}) => logprobs === null && token_ids === null)).toBe(true);
  });

  it('stand before calls', async () => {
    const {choice} = await ask(`Hm.</think>${CALL}`, await formats('hermes', 'deepseek_r1'), {});
    expect(choice.message).toMatchObject({reasoning: 'Hm.', content: null});
    expect(choice.message.tool_calls).toHaveLength(1);
  });

  it('are sent under the older name, too, when the server is told to', async () => {
    const {chat} = await openTestApp(
      {answer: thought, formats: await formats(null, 'deepseek_r1')},
      {reasoningContent: true},
    );
    const {body} = await chat({});
    expect(body).toMatchObject({choices: [{message: {reasoning: 'Let me see.', reasoning_content: 'Let me see.'}}]});
  });

  it('are sent under both names in streams, too', async () => {
    const {chat} = await openTestApp(
      {answer: thought, formats: await formats(null, 'deepseek_r1')},
      {reasoningContent: true},
    );
    const {text} = await chat({stream: true});
    const deltas = sseEvents(text).flatMap((event) => (event as unknown as {choices: Choice[]}).choices);
    const told = (key: string) => deltas.map(({delta}) => delta[key] ?? '').join('');
    expect([told('reasoning'), told('reasoning_content'), told('content')]).toEqual([
      'Let me see.',
      'Let me see.',
      'It is 4.',
    ]);
  });

  it('limit the engine by the marks of their format', async () => {
    const {chat, engine} = await openTestApp({answer: thought, formats: await formats(null, 'deepseek_r1')});
    await chat({thinking_token_budget: 6});
    expect(engine.requests.at(-1)?.sampling.thinkingBudget).toMatchObject({maxTokens: 6, startsInside: true});
  });

  it('are hidden in front of calls that a request may make', async () => {
    const loaded = await formats('hermes', 'deepseek_r1');
    const fields = {include_reasoning: false};
    const {choice} = await ask(`Hm.</think>${CALL}`, loaded, fields);
    expect(choice).toMatchObject({message: {reasoning: null, content: null}, finish_reason: 'tool_calls'});
    const deltas = await stream(`Hm.</think>${CALL}`, loaded, fields);
    expect(joined(callPieces(deltas))).toBe('{"city":"Paris"}');
    expect(deltas.some(({delta}) => delta.reasoning)).toBe(false);
  });

  it('are cut by stop strings unless the request spares them', async () => {
    const loaded = await formats(null, 'deepseek_r1');
    const fields = {tools: undefined, stop: ['see']};
    expect((await ask(thought, loaded, fields)).choice.message).toMatchObject({reasoning: 'Let me ', content: null});
    const spared = await ask(`${thought} You see it.`, loaded, {...fields, stop_spares_reasoning: true});
    expect(spared.choice.message).toMatchObject({reasoning: 'Let me see.', content: 'It is 4. You '});
    const deltas = await stream(`${thought} You see it.`, loaded, {...fields, stop_spares_reasoning: true});
    const told = (key: string) => deltas.map(({delta}) => delta[key] ?? '').join('');
    expect([told('reasoning'), told('content')]).toEqual(['Let me see.', 'It is 4. You ']);
  });
});

describe('several choices', () => {
  it('have their own thoughts and calls, each counted from 0', async () => {
    const loaded = await formats('hermes', 'deepseek_r1');
    const {chat} = await openTestApp({answer: `Hm.</think>Sure. ${CALL}`, formats: loaded});
    const {body} = await chat({tools: [weather], n: 2});
    const {choices} = body as unknown as {choices: Choice[]};
    const ids = choices.flatMap(({message}) => (message.tool_calls ?? []).map(({id}) => id));
    expect(choices.map(({message}) => [message.reasoning, message.content])).toEqual(
      Array.from({length: 2}, () => ['Hm.', 'Sure. ']),
    );
    expect(new Set(ids).size).toBe(2);
    const {text} = await chat({tools: [weather], n: 2, stream: true});
    const chunks = sseEvents(text).flatMap(
      (event) => (event as unknown as {choices: (Choice & {index: number})[]}).choices,
    );
    for (const index of [0, 1]) {
      const deltas = chunks.filter((chunk) => chunk.index === index) as Deltas;
      expect(callPieces(deltas).every((piece) => piece.index === 0)).toBe(true);
      expect(joined(callPieces(deltas))).toBe('{"city":"Paris"}');
      expect(deltas.at(-1)).toMatchObject({finish_reason: 'tool_calls'});
    }
  });
});

describe('what a server was told to read', () => {
  it('is refused when it does not exist', async () => {
    await expect(formats('hermess', null)).rejects.toThrow(
      /^invalid tool call parser: hermess \(chose from \{ .*hermes,/,
    );
    await expect(formats(null, 'x')).rejects.toThrow(/^invalid reasoning parser: x \(chose from \{ /);
  });

  it('must be described by the checkpoint for formats that read from there', async () => {
    await expect(formats('hf', 'beam')).rejects.toThrow(
      '--reasoning-parser beam and --tool-call-parser hf cannot be combined',
    );
    await expect(formats('hf', 'hf')).rejects.toThrow(
      '--reasoning-parser hf --tool-call-parser hf requires `response_template` metadata in the tokenizer configuration',
    );
  });

  it('asks for a parser when a request may call', async () => {
    const {body} = await ask('Hi', await formats(null, 'qwen3'), {});
    expect(body).toMatchObject({error: {message: expect.stringContaining('requires --enable-auto-tool-choice')}});
  });
});

describe('answers that were generated elsewhere', () => {
  const answer = `Hm.</think>Sure. ${CALL}`;
  const open = async () =>
    openTestApp({answer, formats: await formats('hermes', 'deepseek_r1')}, {enableScaleOut: true});
  const chatRequest = {messages: [{role: 'user', content: 'Hi'}], tools: [weather]};
  const expected = {
    message: {reasoning: 'Hm.', content: 'Sure. ', tool_calls: [{function: {name: 'get_weather'}}]},
    finish_reason: 'tool_calls',
  };

  it('become messages on the token route, with what the rendering server says of the request', async () => {
    const {post} = await open();
    const rendered = (await post('/v1/chat/completions/render', chatRequest)).body as unknown as Fields;
    expect(rendered).toMatchObject({
      sampling_params: {skip_special_tokens: false},
      parse_context: {tool_choice: 'auto'},
    });
    const {body} = await post('/inference/v1/generate', {...rendered, output_mode: 'derender'});
    expect(body).toMatchObject({choices: [expected]});
  });

  it('need that context', async () => {
    const {post} = await open();
    const request = {token_ids: [1, 2], sampling_params: {}, output_mode: 'derender'};
    const {status, body} = await post('/inference/v1/generate', request);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(/^output_mode='derender' requires parse_context on a server with a tool/);
  });

  it('become chat answers', async () => {
    const {post} = await open();
    const rendered = (await post('/v1/chat/completions/render', chatRequest)).body as unknown as Fields;
    const generated = (await post('/inference/v1/generate', rendered)).body;
    const request = {generate_response: generated, prompt_token_ids: rendered.token_ids, chat_request: chatRequest};
    const {body} = await post('/v1/chat/completions/derender', request);
    expect(body).toMatchObject({choices: [expected]});
  });
});

describe('the metrics', () => {
  it('count how often calls were looked for', async () => {
    const {app, chat} = await openTestApp({answer: CALL, formats: await formats('hermes', null)});
    await chat({tools: [weather]});
    await chat({tools: [weather], stream: true});
    await chat({});
    const {body} = await app.inject('/metrics');
    const line = (mode: string) =>
      `vllm:tool_call_parser_invocations_total{model_name="tiny",mode="${mode}",outcome="tool_call",request_type="chat_completions"} 1`;
    expect(body).toContain(line('streaming'));
    expect(body).toContain(line('non_streaming'));
    expect(body).not.toContain('outcome="no_tool_call"');
  });
});
