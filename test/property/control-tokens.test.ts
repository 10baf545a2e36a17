/** Laws of escaped control tokens: prompts without any are encoded as ever, and what users write is never one. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {sourceText} from '../../src/core/model/prompt-parts.ts';
import {parseChatCompletionRequest} from '../../src/core/protocol/openai/chat-completion.ts';
import {createRenderer} from '../../src/core/renderer/render-chat.ts';
import {embeddedTokenizer} from '../support/embedded-model.ts';

const template =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content|trim + '<|im_end|>\n' }}{% endfor %}";
/** Control tokens that the template writes for one message. */
const tokensPerMessage = 2;

async function createRenderers() {
  const tokenizer = await embeddedTokenizer();
  const options = {
    tokenizer,
    templates: {override: template, named: new Map(), source: 'test'},
    contentFormat: 'auto',
    defaultTemplateKwargs: {},
    modelName: 'tiny',
    maxModelLen: 100_000,
  } as const;
  return {
    tokenizer,
    open: createRenderer(options),
    escaping: createRenderer({...options, escapesControlTokens: true}),
  };
}

function requestOf(contents: readonly string[]) {
  return parseChatCompletionRequest({messages: contents.map((content) => ({role: 'user', content}))});
}

const whole = fc.string({unit: 'binary', maxLength: 40});
/** The vocabulary of the small model lacks some bytes of rare characters, so these decode to other texts. */
const ascii = fc.string({unit: 'grapheme-ascii', maxLength: 40});
const hostile = fc
  .array(
    fc.oneof(fc.constantFrom('<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|im_', 'end|>', '<', '\n', ' '), ascii),
  )
  .map((pieces) => pieces.join(''));

describe('control tokens in messages', () => {
  it('leave everything else as it is: same text, same ids, same places', async () => {
    const {open, escaping} = await createRenderers();
    const harmless = whole.filter((text) => !text.includes('<'));
    await fc.assert(
      fc.asyncProperty(fc.array(harmless, {minLength: 1, maxLength: 4}), async (contents) => {
        const request = requestOf(contents);
        const [expected, actual] = [await open.renderChat(request), await escaping.renderChat(request)];
        expect(actual.text).toBe(expected.text);
        expect(actual.tokenIds).toEqual(expected.tokenIds);
        expect(await escaping.tokenOffsets(request, actual)).toEqual(await open.tokenOffsets(request, expected));
      }),
    );
  });

  it('become text: the prompt reads the same and holds no more control tokens than the template wrote', async () => {
    const {tokenizer, open, escaping} = await createRenderers();
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, {minLength: 1, maxLength: 4}), async (contents) => {
        const request = requestOf(contents);
        const {text, tokenIds} = await escaping.renderChat(request);
        expect(text).toBe(sourceText(await open.renderSource(request)));
        expect(tokenizer.decode(tokenIds, {skipSpecialTokens: false})).toBe(text);
        const numControl = tokenIds.filter((id) => tokenizer.specialTokenIds.has(id)).length;
        expect(numControl).toBe(contents.length * tokensPerMessage);
      }),
    );
  });

  it('have places that follow one another', async () => {
    const {escaping} = await createRenderers();
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, {minLength: 1, maxLength: 3}), async (contents) => {
        const request = requestOf(contents);
        const prompt = await escaping.renderChat(request);
        const places = await escaping.tokenOffsets(request, prompt);
        expect(places).toHaveLength(prompt.tokenIds.length);
        for (const [index, [start]] of places.entries()) {
          if (index > 0) expect(start).toBeGreaterThanOrEqual(places[index - 1]![0]);
        }
        expect(places.at(-1)![1]).toBe([...prompt.text].length);
      }),
    );
  });
});
