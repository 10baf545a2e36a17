import {describe, expect, it} from 'vitest';
import {playTokens} from '../../../support/scripted-engine-client.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

async function openBatch(...options: Parameters<typeof openTestApp>) {
  const app = await openTestApp(...options);
  const messages = [userSays('Say hello.'), userSays('Bye')];
  const batch = (fields: object) => app.post('/v1/chat/completions/batch', {messages, ...fields});
  return {...app, batch};
}

describe('a batch of conversations', () => {
  it('has a choice for each', async () => {
    const {batch} = await openBatch({
      script: ({promptTokenIds}) => playTokens([promptTokenIds.length], {finishReason: 'length'}),
    });
    const {body} = await batch({return_token_ids: true, n: 1});
    expect(body).toMatchObject({
      object: 'chat.completion',
      choices: [
        {index: 0, token_ids: [33]},
        {index: 1, token_ids: [32]},
      ],
      usage: {prompt_tokens: 65, completion_tokens: 2},
      prompt_token_ids: null,
    });
  });

  it('ignores what makes no sense in it', async () => {
    const {batch} = await openBatch();
    const ignored = {stream: true, stream_options: {}, return_weight_versions: true, tools: [], tool_choice: 'auto'};
    const {status, body} = await batch(ignored);
    expect(status).toBe(200);
    expect(body).toMatchObject({choices: [{weight_versions: null}, {}]});
  });

  it('checks the fields of chat', async () => {
    const {batch} = await openBatch();
    expect((await batch({top_logprobs: 2})).body.error.param).toBe('top_logprobs');
    expect((await batch({temperature: 'x', seed: 'y'})).body.error.message).toMatch(/^2 validation errors/);
  });

  it.each([
    [{messages: []}, 'body.messages', /at least 1 item/],
    [{messages: [[]]}, 'body.messages.0', /at least 1 item/],
    [{messages: [userSays('x'), [{content: 'x'}]]}, 'body.messages.1.0.role', /Field required/],
    [{n: 2}, 'n', /^Batch chat completions do not support `n > 1`\. Please set `n` to 1\. \(parameter=n, value=2\)$/],
    [{use_beam_search: true}, 'use_beam_search', /do not support beam search/],
  ])('refuses %j', async (fields, param, message) => {
    const {batch} = await openBatch();
    const {status, body} = await batch(fields);
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
    expect(body.error.message).toMatch(message);
  });

  it('needs a place for each conversation', async () => {
    const {batch} = await openBatch({}, {maxNumQueuedReqs: 1});
    expect((await batch({})).status).toBe(503);
  });
});
