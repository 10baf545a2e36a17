import {describe, expect, it} from 'vitest';
import type {ChatEvent} from '../../../src/core/parsers/events.ts';
import {parseChatCompletionRequest} from '../../../src/core/protocol/openai/chat-completion.ts';
import {embeddedTokenizer} from '../../support/embedded-model.ts';
import {playTokens} from '../../support/scripted-engine-client.ts';
import {createScriptedLlm, type ScriptedLlmOptions} from '../../support/scripted-llm.ts';

const user = [{role: 'user', content: 'What is the capital of France?'}];

function encode(text: string): Promise<number[]> {
  return embeddedTokenizer().then((tokenizer) => tokenizer.encode(text, {addSpecialTokens: false}));
}

async function start(body: Record<string, unknown>, options: ScriptedLlmOptions = {}) {
  const {llm, engine} = await createScriptedLlm(options);
  const leave = new AbortController();
  const request = parseChatCompletionRequest({messages: user, ...body});
  const chat = await llm.startChat(request, {requestId: 'r', signal: leave.signal});
  return {llm, engine, chat, leave};
}

async function collect(events: AsyncGenerator<ChatEvent, void>): Promise<ChatEvent[]> {
  const collected: ChatEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

function textOf(events: ChatEvent[], choice = 0): string {
  return events
    .filter((event) => event.choice === choice && event.type === 'delta')
    .map((event) => (event as {text: string}).text)
    .join('');
}

describe('startChat', () => {
  it('hands the rendered prompt to the engine and gives its tokens back as text', async () => {
    const {chat, engine} = await start({}, {answer: 'The capital of France is Paris.'});
    const events = await collect(chat.events);
    expect(textOf(events)).toBe('The capital of France is Paris.');
    expect(events.at(-1)).toEqual({
      choice: 0,
      type: 'finish',
      finishReason: 'stop',
      stopReason: null,
      numTokens: 8,
    });
    expect(engine.requests[0]!.promptTokenIds).toEqual(chat.prompts[0]!.tokenIds);
    expect(chat.prompts[0]!.text).toMatch(/<\|im_start\|>assistant\n$/);
    expect(engine.abortedIds).toEqual([]);
  });

  it('sends nothing to the engine before the events are read', async () => {
    const {chat, engine} = await start({});
    expect(engine.requests).toEqual([]);
    expect(chat.cachedTokens()).toBeNull();
    await chat.events.next();
    expect(engine.requests).toHaveLength(1);
    expect(chat.cachedTokens()).toBe(0);
    await chat.events.return();
  });

  it('takes the sequence out of the engine when a stop string ends the choice', async () => {
    const ids = await encode('one two three');
    const {chat, engine} = await start(
      {stop: ['two']},
      {script: () => [...playTokens(ids, {finishReason: null}), 'hang']},
    );
    const events = await collect(chat.events);
    expect(textOf(events)).toBe('one ');
    expect(events.at(-1)).toMatchObject({type: 'finish', finishReason: 'stop', stopReason: 'two', numTokens: 2});
    expect(engine.abortedIds).toEqual(['r-0']);
    expect(engine.numOpenRequests()).toBe(0);
  });

  it('interleaves the choices of n and gives each its own seed', async () => {
    const [a, b] = [await encode('first answer'), await encode('another one here')];
    const script = ({requestId}: {requestId: string}) =>
      playTokens(requestId.endsWith('.0') ? a : b, {finishReason: 'length'});
    const {chat, engine} = await start({n: 2, temperature: 1, seed: 7}, {script});
    const events = await collect(chat.events);
    expect([textOf(events, 0), textOf(events, 1)]).toEqual(['first answer', 'another one here']);
    const textChoices = events.filter(({type}) => type === 'delta').map(({choice}) => choice);
    expect(textChoices.slice(0, 4)).toEqual([0, 1, 0, 1]);
    expect(engine.requests.map(({sampling}) => sampling.seed)).toEqual([7n, 8n]);
    expect(events.filter(({type}) => type === 'finish')).toHaveLength(2);
  });

  it('ends without an error and empties the engine when the signal aborts', async () => {
    const ids = await encode('a b c');
    const script = () => [...playTokens(ids, {finishReason: null}), 'hang' as const];
    const {chat, engine, leave} = await start({n: 3, temperature: 1}, {script});
    const seen: ChatEvent[] = [];
    for await (const event of chat.events) {
      seen.push(event);
      if (seen.length === 4) leave.abort();
    }
    expect(engine.numOpenRequests()).toBe(0);
    expect(engine.abortedIds.sort()).toEqual(['r-0.0', 'r-0.1', 'r-0.2']);
    expect(seen.some(({type}) => type === 'finish')).toBe(false);
  });

  it('empties the engine when the reader leaves while other choices wait', async () => {
    const ids = await encode('a b');
    const {chat, engine} = await start(
      {n: 2, temperature: 1},
      {script: () => [...playTokens(ids, {finishReason: null}), 'hang']},
    );
    for await (const event of chat.events) if (event.choice === 1) break;
    expect(engine.numOpenRequests()).toBe(0);
    expect(engine.abortedIds).toHaveLength(2);
  });

  it('passes on the failure of one choice and takes the others out', async () => {
    const failure = new Error('no logits');
    const script = ({requestId}: {requestId: string}) => (requestId.endsWith('.1') ? [failure] : (['hang'] as const));
    const {chat, engine} = await start({n: 2, temperature: 1}, {script});
    await expect(collect(chat.events)).rejects.toBe(failure);
    expect(engine.numOpenRequests()).toBe(0);
  });

  it('refuses a request when the engine is dead', async () => {
    const {llm, engine} = await start({});
    engine.die(new Error('killed'));
    const again = llm.startChat(parseChatCompletionRequest({messages: user}), {
      requestId: 'r',
      signal: new AbortController().signal,
    });
    await expect(again).rejects.toMatchObject({name: 'EngineDeadError'});
  });

  it('gives every request its own id inside, whatever the client sends', async () => {
    const {llm, engine} = await createScriptedLlm({script: () => ['hang']});
    const leave = new AbortController();
    const options = {requestId: 'same', signal: leave.signal};
    const request = parseChatCompletionRequest({messages: user});
    const chats = await Promise.all([llm.startChat(request, options), llm.startChat(request, options)]);
    const readers = chats.map((chat) => collect(chat.events));
    await new Promise(setImmediate);
    expect(new Set(engine.requests.map(({requestId}) => requestId)).size).toBe(2);
    leave.abort();
    await Promise.all(readers);
  });

  it('takes defaults and end ids of the generation config', async () => {
    const generation = {defaults: {temperature: 0.25, maxTokens: 9}, overrideMaxTokens: 7, eosTokenIds: [2, 0]};
    const {chat, engine} = await start({}, {generation});
    await collect(chat.events);
    expect(engine.requests[0]!.sampling).toMatchObject({
      temperature: 0.25,
      maxTokens: 7,
      eosTokenId: 2,
      stopTokenIds: [0],
    });
  });

  it('refuses a prompt with a token that the model does not have', async () => {
    const {chat} = await start({}, {info: {vocabSize: 9000}});
    await expect(chat.events.next()).rejects.toThrow('Token id 9690 is out of vocabulary');
  });

  it('takes token ids of the request in place of the messages, unless these are echoed', async () => {
    const kv_transfer_params = {prompt_token_ids: [1, 2, 3]};
    const {chat, engine} = await start({kv_transfer_params});
    await collect(chat.events);
    expect(engine.requests[0]!.promptTokenIds).toEqual([1, 2, 3]);
    expect((await start({kv_transfer_params, echo: true})).chat.prompts[0]!.text).toContain('<|im_start|>');
    await expect(start({kv_transfer_params: {prompt_token_ids: [49152]}})).rejects.toMatchObject({
      message: 'Token id 49152 is out of vocabulary',
      param: 'kv_transfer_params.prompt_token_ids',
    });
    const media = [{role: 'user', content: [{type: 'image_url', image_url: {url: 'x'}}]}];
    await expect(start({kv_transfer_params, messages: media})).rejects.toThrow('is not a multimodal model');
  });

  it('refuses what only the engine of the reference checks at the first read', async () => {
    const {chat, engine} = await start({logit_bias: {'49152': 1}});
    await expect(chat.events.next()).rejects.toMatchObject({name: 'ValidationError', param: 'logit_bias'});
    expect(engine.requests).toEqual([]);
  });
});
