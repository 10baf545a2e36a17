/** What a run of the chat gets from the command: its options, and the terminal with everything that is not drawn by us. */
import type {Logger} from '../core/util/logger.ts';
import type {LoadProgressNote} from './backend/backend.ts';
import type {ChatOptions} from './options.ts';
import type {PlainOutput} from './plain/plain-output.ts';

export type ChatRunOptions = ChatOptions & {model: string | null; json: boolean};

export interface ChatTerminal extends PlainOutput {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  /** Text of a pipe; null when a person types. */
  readPipe(): Promise<string | null>;
  logger: Logger;
  /** Shows the loading of a model where no screen does. */
  onProgress(progress: LoadProgressNote): void;
  finishProgress(): void;
  /**
   * Runs a program that has the terminal to itself, by a line for the shell; nothing else happens until it ends.
   * @param input for its stdin; null = the terminal
   * @returns its exit code
   */
  runProgram(line: string, argv: readonly string[], input: string | null): number;
  env: NodeJS.ProcessEnv;
  folder: string;
  /** Aborted by Ctrl-C where no screen reads keys. */
  interrupt: AbortSignal;
  version: string;
}
