/** A backend for the chat that answers with given events, one list for each request, and keeps the requests. */
import type {ChatBackend, ChatRequestBody} from '../../src/chat/backend/backend.ts';
import type {AnswerEvent} from '../../src/chat/conversation/answer-event.ts';

export type ScriptedAnswer = readonly (AnswerEvent | Error | 'wait')[];

export class ScriptedBackend implements ChatBackend {
  readonly requests: ChatRequestBody[] = [];
  readonly #answers: ScriptedAnswer[];

  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers;
  }

  async ready() {
    return {modelName: 'scripted', maxModelLen: 8192, readsToolCalls: null};
  }

  async listModels() {
    return ['scripted'];
  }

  async use() {
    return this.ready();
  }

  /** `wait` goes on only when the request is aborted. */
  async *answer(body: ChatRequestBody, {signal}: {signal: AbortSignal}): AsyncGenerator<AnswerEvent, void, undefined> {
    this.requests.push(structuredClone(body));
    for (const step of this.#answers.shift() ?? []) {
      if (step instanceof Error) throw step;
      if (step === 'wait') return void (await new Promise((resolve) => signal.addEventListener('abort', resolve)));
      yield step;
    }
  }

  async renderPrompt() {
    return 'prompt';
  }

  async countTokens() {
    return 1;
  }

  async close() {}
}

export const text = (value: string): AnswerEvent => ({type: 'text-delta', text: value});
export const thought = (value: string): AnswerEvent => ({type: 'reasoning-delta', text: value});
export const finish = (finishReason = 'stop'): AnswerEvent => ({
  type: 'finish',
  finishReason,
  usage: {promptTokens: 10, completionTokens: 5},
});
/** A whole call in two pieces. */
export const call = (name: string, argumentsText: string): AnswerEvent[] => [
  {type: 'tool-call-start', index: 0, id: 'call_1', name},
  {type: 'tool-call-delta', index: 0, argumentsText},
];
