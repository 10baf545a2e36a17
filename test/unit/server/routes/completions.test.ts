import {describe, expect, it} from 'vitest';
import {EngineDeadError} from '../../../../src/core/errors.ts';
import {playTokens} from '../../../support/scripted-engine-client.ts';
import {sseBlocks, sseEvents} from '../../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();

const lengthEnd = {finishReason: 'length' as const};

async function openCompletions(...options: Parameters<typeof openTestApp>) {
  const app = await openTestApp(...options);
  const complete = (fields: object, headers?: Record<string, string>) =>
    app.post('/v1/completions', {prompt: 'Once upon a time', ...fields}, headers);
  return {...app, complete};
}

describe('completions', () => {
  it('answer with the text behind the prompt', async () => {
    const {complete, engine} = await openCompletions({answer: ' there was'});
    const {status, body} = await complete({});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'text_completion',
      model: 'tiny',
      choices: [{index: 0, text: ' there was', finish_reason: 'stop'}],
      usage: {prompt_tokens: 4, completion_tokens: 3},
    });
    expect(engine.requests[0]).toMatchObject({promptTokenIds: [6403, 1980, 253, 655], sampling: {maxTokens: 16}});
  });

  it('number the choices over all prompts', async () => {
    const {complete, engine} = await openCompletions({
      script: ({promptTokenIds, sampling}) => playTokens([promptTokenIds[0]!, Number(sampling.seed)], lengthEnd),
    });
    const {body} = await complete({prompt: [[20], [30]], n: 2, seed: 5, return_token_ids: true});
    expect(body).toMatchObject({
      choices: [
        {index: 0, token_ids: [20, 5], prompt_token_ids: [20]},
        {index: 1, token_ids: [20, 6], prompt_token_ids: [20]},
        {index: 2, token_ids: [30, 5], prompt_token_ids: [30]},
        {index: 3, token_ids: [30, 6], prompt_token_ids: [30]},
      ],
      usage: {prompt_tokens: 2, completion_tokens: 8},
    });
    expect(new Set(engine.requests.map(({requestId}) => requestId)).size).toBe(4);
  });

  it('take their id from the client', async () => {
    const {complete} = await openCompletions();
    expect((await complete({request_id: 'mine'})).body).toMatchObject({id: 'cmpl-mine'});
    expect((await complete({request_id: 'mine'}, {'x-request-id': 'h'})).body).toMatchObject({id: 'cmpl-h'});
  });

  it('are the same as a stream', async () => {
    const {complete} = await openCompletions({answer: ' one, two 😀, three'});
    const fields = {echo: true, stop: ['three'], stream_options: {include_usage: true}};
    const {text} = await complete({...fields, stream: true});
    const chunks = sseEvents<{choices: {text: string}[]; usage?: object}>(text);
    const {body} = await complete({...fields, stream_options: null});
    const streamed = chunks.flatMap(({choices}) => choices.map((choice) => choice.text)).join('');
    expect(body).toMatchObject({choices: [{text: streamed, stop_reason: 'three'}]});
    expect(streamed).toBe('Once upon a time one, two 😀, ');
    expect(chunks.at(-1)?.usage).toMatchObject({prompt_tokens: 4});
    expect(sseBlocks(text).at(-1)).toBe('data: [DONE]');
  });

  it('echo ids as the text of what is left of them', async () => {
    const {complete} = await openCompletions({answer: '!'});
    const {body} = await complete({prompt: [6403, 1980, 253, 655], echo: true, truncate_prompt_tokens: 2});
    expect(body).toMatchObject({choices: [{text: ' a time!'}], usage: {prompt_tokens: 2}});
  });

  it('echo a text as it was sent', async () => {
    const {complete} = await openCompletions({answer: '!'});
    const {body} = await complete({echo: true, truncate_prompt_tokens: 2});
    expect(body).toMatchObject({choices: [{text: 'Once upon a time!'}], usage: {prompt_tokens: 2}});
  });

  it.each([
    [{model: 'x'}, 404, /does not exist/],
    [{prompt: []}, 400, /^You must pass at least one prompt \(parameter=prompt\)$/],
    [{prompt: [[]]}, 400, /^The decoder prompt cannot be empty$/],
    [{prompt: [49152]}, 400, /^Token id 49152 is out of vocabulary$/],
    [{suffix: 'x'}, 400, /^suffix is only supported for models with FIM completion rendering$/],
    [{suffix: 'x', echo: true}, 400, /^Echo is unsupported with suffix\.$/],
    [{prompt_embeds: 'x'}, 400, /^You must set `--enable-prompt-embeds`/],
    [{stream: true, use_beam_search: true}, 400, /^Streaming is not currently supported with beam search$/],
    [{max_tokens: 0}, 400, /^max_tokens must be at least 1, got 0\./],
    [{max_tokens: 3000}, 400, /^max_tokens=3000 cannot be greater than max_model_len=2048\./],
    [{prompt: Array(2049).fill(5)}, 400, /your prompt contains at least 2049 input tokens/],
    [{prompt: Array(2050).fill(5)}, 400, /your prompt contains 2050 input tokens/],
    [{prompt: 'a '.repeat(2060)}, 400, /your prompt contains at least 2049 input tokens/],
  ])('refuse %.60j', async (fields, status, message) => {
    const {complete, engine} = await openCompletions();
    const answer = await complete(fields);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toMatch(message);
    expect(engine.requests).toHaveLength(0);
  });

  it('tell what the engine would refuse in the stream, with spaces', async () => {
    const {complete} = await openCompletions();
    const {status, text} = await complete({prompt: [49152], stream: true});
    expect(status).toBe(200);
    expect(sseBlocks(text)).toEqual([
      'data: {"error": {"message": "Token id 49152 is out of vocabulary", "type": "BadRequestError", "param": null, "code": 400}}',
      'data: [DONE]',
    ]);
  });

  it('need a place for each choice of each prompt', async () => {
    const {complete} = await openCompletions({}, {maxNumQueuedReqs: 3});
    expect((await complete({prompt: ['a', 'b'], n: 2})).status).toBe(503);
    expect((await complete({prompt: ['a', 'b', 'c']})).status).toBe(200);
  });

  it('fail with the engine', async () => {
    const {complete} = await openCompletions({script: () => [new EngineDeadError('gone')]});
    expect((await complete({})).status).toBe(500);
  });
});
