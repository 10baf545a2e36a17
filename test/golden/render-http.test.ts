/**
 * Recorded bodies of the render route against our renderer: ids and error texts. Rows about other parts of the server
 * (types of fields, tools, the engine's own checks) are left out; rows whose template needs what the template engine
 * lacks are expected to differ, so that a better engine shows.
 */
import {describe, expect, it} from 'vitest';
import {parseChatCompletionRequest} from '../../src/core/protocol/openai/chat-completion.ts';
import type {ChatMessage} from '../../src/core/protocol/openai/messages.ts';
import {findChatTemplates} from '../../src/core/renderer/find-chat-template.ts';
import {createRenderer} from '../../src/core/renderer/render-chat.ts';
import {embeddedModelFolder, embeddedTokenizer} from '../support/embedded-model.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

interface RenderRow {
  name: string;
  config: 'default' | 'trusting';
  path: string;
  body: Record<string, unknown>;
  status: number;
  reply: {token_ids?: number[]; error?: {message: string; type: string}};
  loose?: boolean;
}

const maxModelLen = 2048;

/** Rows that do not end in the renderer. */
const otherParts = [
  'chat/model_wrong',
  'chat/beam',
  'chat/tools_choice_auto',
  'chat/tools_choice_required',
  'chat/tools_choice_named',
  'chat/tools_choice_without_tools',
  'chat/tools_empty',
  'chat/continue_and_gen',
  'chat/image_bad_url',
  'chat/max_tokens_too_big',
  'chat/truncate_zero',
  'chat/template_blank_result',
  'cdump/tools_none',
];

/** Python's error texts, numbers and ways to print, which the template engine does not have. */
const beyondTheEngine = [
  'chat/template_zero_div',
  'chat/template_unknown_filter',
  'chat/template_unsafe',
  'chat/template_range',
  'chat/template_include',
  'cdump/effort_none',
  'cdump/effort_user_thinking',
  'cdump/float_args',
  'cdump/tool_schema_float',
  'cdump/kwargs_float',
];

function isOfRenderer({name, path, loose, reply}: RenderRow): boolean {
  const isTypeError = reply.error?.type === 'Bad Request';
  return path === '/v1/chat/completions/render' && !loose && !isTypeError && !otherParts.includes(name);
}

async function createTestRenderer(config: RenderRow['config']) {
  return createRenderer({
    tokenizer: await embeddedTokenizer(),
    templates: await findChatTemplates(
      {
        chatTemplatePath: `${embeddedModelFolder}/chat_template.jinja`,
        additionalTemplatePaths: new Map(),
        tokenizerConfigPath: null,
      },
      null,
    ),
    contentFormat: 'auto',
    defaultTemplateKwargs: config === 'trusting' ? {enable_thinking: false, flavour: 'mint'} : {},
    modelName: 'smollm2',
    maxModelLen,
  });
}

async function render({body, config}: RenderRow): Promise<number[] | string> {
  const {messages, ...others} = body;
  const request = {...parseChatCompletionRequest({...others, messages: []}), messages: messages as ChatMessage[]};
  try {
    const renderer = await createTestRenderer(config);
    return (await renderer.renderChat(request)).tokenIds;
  } catch (error) {
    return (error as Error).message;
  }
}

const rows = hasSharedData ? readGoldenLines<RenderRow>('render-http.jsonl').filter(isOfRenderer) : [];

describe.skipIf(!hasSharedData)('render-http.jsonl', () => {
  it.each(rows.map((row) => ({title: `${row.config} ${row.name}`, row})))('$title', async ({row}) => {
    const actual = await render(row);
    const expected = row.status === 200 ? row.reply.token_ids : row.reply.error!.message;
    if (beyondTheEngine.includes(row.name)) expect(actual).not.toEqual(expected);
    else expect(actual).toEqual(expected);
  });
});
