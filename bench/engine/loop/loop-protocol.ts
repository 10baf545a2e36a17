/** Messages between the benchmark and the child that holds a bare engine loop. */
import type {LlamaSettings} from '../llama/llama-api.ts';

export interface LoopSettings extends LlamaSettings {
  /** Longest sequence of a task, prompt and output together. */
  contextTokens: number;
}

/** Prompts that start together; each gets the same number of output tokens, whatever they are. */
export interface LoopTask {
  prompts: number[][];
  numTokens: number;
}

/** An output token. Times are milliseconds since the task began; CPU is that of the whole process. */
export interface TokenMark {
  stream: number;
  wallMs: number;
  cpuMs: number;
}

export type LoopMessage = {type: 'ready'} | {type: 'done'; marks: TokenMark[]} | {type: 'failed'; message: string};

/** An engine without server, process border or text. */
export interface BareLoop {
  /**
   * Runs a task to its end, greedily.
   * @param onToken called once for each output token, as soon as it is known
   */
  run(task: LoopTask, onToken: (stream: number) => void): Promise<void>;
}
