/**
 * Recorded prompts of Harmony: the text, and the ids that come of encoding it part by part. The encoding is the public
 * o200k vocabulary; the ids of the control tokens are those of the model's files.
 */
import {encode} from 'gpt-tokenizer/encoding/o200k_base';
import {describe, expect, it} from 'vitest';
import type {PromptPart} from '../../src/core/model/prompt-parts.ts';
import {parseChatCompletionRequest} from '../../src/core/protocol/openai/chat-completion.ts';
import {renderHarmony} from '../../src/core/renderer/harmony/render-harmony.ts';
import {parseJson} from '../../src/core/util/parse-json.ts';
import {hasSharedData, readGoldenTexts} from '../support/shared-data.ts';

interface HarmonyCase {
  name: string;
  body: unknown;
  date: string;
  text?: string;
  ids?: number[];
  error?: string;
  etype?: string;
}

const controlIds: Readonly<Record<string, number>> = {
  '<|channel|>': 200005,
  '<|start|>': 200006,
  '<|end|>': 200007,
  '<|message|>': 200008,
  '<|call|>': 200012,
};

function encodePart({kind, text}: PromptPart): number[] {
  return kind === 'marked' ? [controlIds[text]!] : encode(text, {disallowedSpecial: new Set()});
}

function render({body, date}: HarmonyCase): PromptPart[] {
  return renderHarmony(parseChatCompletionRequest(body), {date, hasSystemInstructions: false, modelName: 'gpt-oss'});
}

const cases = hasSharedData ? readGoldenTexts('harmony.jsonl').map((line) => parseJson(line) as HarmonyCase) : [];
const errorsWithText = new Set(['ValueError', 'VLLMValidationError']);

describe.skipIf(!hasSharedData)('recorded Harmony prompts', () => {
  it.each(cases.filter(({text}) => text !== undefined))('$name: text and ids', (row) => {
    const parts = render(row);
    expect(parts.map(({text}) => text).join('')).toBe(row.text);
    expect(parts.flatMap(encodePart)).toEqual(row.ids);
  });

  it.each(cases.filter(({error}) => error !== undefined))('$name: error', (row) => {
    let message = '';
    try {
      render(row);
    } catch (error) {
      const {param} = error as {param: string | null};
      message = `${(error as Error).message}${param === null ? '' : ` (parameter=${param})`}`;
    }
    expect(message).not.toBe('');
    if (errorsWithText.has(row.etype!)) expect(message).toBe(row.error);
  });
});
