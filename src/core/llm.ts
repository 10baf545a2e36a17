/**
 * Front of the core: from a checked request to events. The only place where the text side (renderer, tokenizer,
 * detokenizer, parsers) and the engine side meet. Server and chat call nothing deeper.
 */
import type {ModelInfo, StepStats} from './engine/protocol.ts';
import type {ChatEvent} from './parsers/events.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';

/** A chat request on its way: everything that can be refused has been checked when this exists. */
export interface ChatGeneration {
  promptTokenIds: number[];
  promptText: string;
  /** Prompt tokens that came from the prefix cache; null until the first event. */
  cachedTokens(): number | null;
  /**
   * The answer. Each choice ends with exactly one `finish` event. Leaving the loop or aborting the signal takes the
   * request out of the engine.
   * @throws EngineDeadError, GenerationError
   */
  events: AsyncGenerator<ChatEvent, void, undefined>;
}

export interface Llm {
  readonly modelInfo: ModelInfo;
  /**
   * Renders, tokenizes, resolves and checks a request, and hands it to the engine when `events` is first read.
   * @throws ValidationError, TemplateError, UnsupportedError, EngineDeadError before anything has been generated
   */
  startChat(request: ChatCompletionRequest, options: {requestId: string; signal: AbortSignal}): Promise<ChatGeneration>;
  isAlive(): boolean;
  /** Resolves when the engine dies by itself. */
  readonly death: Promise<Error>;
  numOpenRequests(): number;
  onStats(listener: (stats: StepStats) => void): () => void;
  close(): Promise<void>;
}
