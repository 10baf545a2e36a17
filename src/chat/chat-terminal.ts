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
  env: NodeJS.ProcessEnv;
  folder: string;
  /** Aborted by Ctrl-C where no screen reads keys. */
  interrupt: AbortSignal;
  version: string;
}
