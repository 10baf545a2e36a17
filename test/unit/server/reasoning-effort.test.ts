/** `--reasoning-effort-map`: what the template gets of a request's effort, on every route that renders a conversation. */
import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp, userSays} from '../../support/test-app.ts';

closeAppsAfterEach();

const serverOptions = {
  reasoningEffortMap: {minimal: 'none', high: 'maximal'},
  enableScaleOut: true,
  trustRequestChatTemplate: true,
};
const chat_template = '{{ reasoning_effort }} {{ enable_thinking | default(none) | tojson }}{{ messages[0].content }}';

describe('an effort', () => {
  it.each([
    ['minimal', 'none false'],
    ['high', 'maximal true'],
    ['low', 'low true'],
  ])('%s is rendered as %s', async (reasoning_effort, expected) => {
    const {chat} = await openTestApp({}, serverOptions);
    const {body} = await chat({reasoning_effort, chat_template, return_prompt_text: true});
    expect(body.prompt_text).toBe(`${expected}Say hello.`);
  });

  it('is rewritten for the reader of a rendered request, too', async () => {
    const {post} = await openTestApp({}, serverOptions);
    const {body} = await post('/v1/chat/completions/render', {messages: userSays('Hi'), reasoning_effort: 'minimal'});
    expect(body.parse_context).toMatchObject({
      chat_template_kwargs: {reasoning_effort: 'none', enable_thinking: false},
    });
  });

  it('of the template arguments stays as it is, and an unknown one is refused', async () => {
    const {chat} = await openTestApp({}, serverOptions);
    const chat_template_kwargs = {reasoning_effort: 'high'};
    const {body} = await chat({chat_template_kwargs, chat_template, return_prompt_text: true});
    expect(body.prompt_text).toMatch(/^high null/);
    expect((await chat({reasoning_effort: 'maximal'})).status).toBe(400);
  });
});
