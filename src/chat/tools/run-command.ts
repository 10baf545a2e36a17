/** Runs a program for a tool: input on stdin, both outputs as one text, an end after a time or when the turn is stopped. */
import {spawn} from 'node:child_process';
import type {ToolContext} from './tool.ts';

export interface CommandRun {
  command: readonly [string, ...string[]] | string[];
  /** Written to stdin. */
  input: string;
  timeoutMs: number;
}

const maxOutputCharacters = 1_000_000;

/** @throws Error with the output when the exit code is not 0 */
export function runCommand(
  {command, input, timeoutMs}: CommandRun,
  {signal, folder, report}: ToolContext,
): Promise<string> {
  const [program, ...argv] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program!, argv, {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    let output = '';
    const collect = (text: string) => {
      if (output.length < maxOutputCharacters) output += text;
      const line = text.trimEnd().split('\n').at(-1);
      if (line) report(line);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => reject(new Error(stopReason(error, signal, timeoutMs))));
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`exit code ${code}\n${output}`));
    });
    // A program that does not read its input closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function stopReason(error: Error, signal: AbortSignal, timeoutMs: number): string {
  if (error.name !== 'AbortError') return error.message;
  return signal.aborted ? 'stopped by the person' : `stopped after ${timeoutMs / 1000} s`;
}
