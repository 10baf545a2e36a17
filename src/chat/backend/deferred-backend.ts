/** A backend whose code is loaded only after the screen has been drawn: whoever asks it something waits for that. */
import {setTimeout as delay} from 'node:timers/promises';
import type {AnswerEvent} from '../conversation/answer-event.ts';
import type {WireMessage} from '../conversation/messages.ts';
import type {ChatBackend, ChatRequestBody} from './backend.ts';

/** Time for the first frame. */
const firstFrameMs = 40;

export class DeferredBackend implements ChatBackend {
  readonly #opening: Promise<ChatBackend>;

  constructor(open: () => Promise<ChatBackend>) {
    this.#opening = delay(firstFrameMs).then(open);
    this.#opening.catch(() => {});
  }

  async ready() {
    return (await this.#opening).ready();
  }

  async listModels() {
    return (await this.#opening).listModels();
  }

  async use(modelName: string) {
    return (await this.#opening).use(modelName);
  }

  async *answer(body: ChatRequestBody, options: {signal: AbortSignal}): AsyncGenerator<AnswerEvent, void, undefined> {
    yield* (await this.#opening).answer(body, options);
  }

  async renderPrompt(body: ChatRequestBody) {
    return (await this.#opening).renderPrompt(body);
  }

  async countTokens(messages: readonly WireMessage[]) {
    return (await this.#opening).countTokens(messages);
  }

  async close() {
    await this.#opening.then(
      (backend) => backend.close(),
      () => {},
    );
  }
}
