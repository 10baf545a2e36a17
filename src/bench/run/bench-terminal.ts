/** What a run may say and hear while it goes on; the command gives it, tests replace it. */
import type {ProgramPlace} from '../target/started-server.ts';

export interface BenchTerminal {
  /** A line for a person, on stderr. */
  note(line: string): void;
  /** A line of the result, on stdout. */
  result(line: string): void;
  /** Of stdout; null where it is no terminal, and lines may have any length. */
  columns: number | null;
  /** Where progress is drawn; null = nowhere. */
  progressStream: NodeJS.WriteStream | null;
  /** Aborted by Ctrl-C, with the name of the signal as reason. */
  interrupt: AbortSignal;
  program: ProgramPlace;
  version: string;
}
