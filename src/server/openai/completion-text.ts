/**
 * What one choice of a completion shows: its text and the logprobs of the shown tokens, piece by piece. With `echo` the
 * prompt stands before the first piece, or in place of the whole output.
 */
import {codePointLength} from '../../core/util/python-text.ts';
import type {ChatOutput} from './chat-outputs.ts';
import type {CompletionContext, CompletionPromptFacts} from './completion-context.ts';
import {completionLogprobs, type ShownToken} from './completion-logprobs.ts';

export interface ShownPiece {
  text: string;
  logprobs: ReturnType<typeof completionLogprobs> | null;
  isFirst: boolean;
}

export class CompletionText {
  readonly #context: CompletionContext;
  readonly #prompt: CompletionPromptFacts;
  #hasStarted = false;
  /** Characters shown. */
  #length = 0;

  constructor(context: CompletionContext, choice: number) {
    this.#context = context;
    this.#prompt = context.promptOf(choice);
  }

  /** False while the first piece needs logprobs of the prompt that are not there yet. */
  get isReady(): boolean {
    const {echo, logprobs} = this.#context;
    return this.#hasStarted || echo === 'none' || logprobs === null || this.#prompt.logprobs() !== null;
  }

  show(output: Pick<ChatOutput, 'text' | 'tokenIds' | 'logprobs'>): ShownPiece {
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    const text = this.#textOf(output.text, isFirst);
    const logprobs = this.#logprobsOf(output, isFirst);
    this.#length += codePointLength(text);
    return {text, logprobs, isFirst};
  }

  /** Token ids tell what the prompt was, so its text is left out next to them. */
  #textOf(text: string, isFirst: boolean): string {
    const {echo, returnTokenIds} = this.#context;
    const prompt = isFirst && echo !== 'none' && !returnTokenIds ? this.#prompt.text : '';
    return echo === 'prompt-only' ? prompt : prompt + text;
  }

  #logprobsOf(output: Pick<ChatOutput, 'tokenIds' | 'logprobs'>, isFirst: boolean): ShownPiece['logprobs'] {
    const {echo, logprobs} = this.#context;
    if (logprobs === null) return null;
    const prompt = isFirst && echo !== 'none' ? this.#promptTokens() : [];
    const tokens = echo === 'prompt-only' ? prompt : [...prompt, ...outputTokens(output)];
    return completionLogprobs(tokens, this.#length, logprobs);
  }

  #promptTokens(): ShownToken[] {
    const positions = this.#prompt.logprobs() ?? [];
    return this.#prompt.tokenIds.map((tokenId, index) => {
      const position = positions[index] ?? null;
      return {tokenId, text: position?.[0]?.text ?? this.#prompt.tokenText(tokenId), position};
    });
  }
}

function outputTokens({logprobs}: Pick<ChatOutput, 'logprobs'>): ShownToken[] {
  return (logprobs ?? []).map((position) => ({tokenId: position[0]!.tokenId, text: position[0]!.text, position}));
}
