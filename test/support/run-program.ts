/** Runs the built command line to its end, as a shell would, without a terminal. */
import {spawn} from 'node:child_process';
import {setPriority} from 'node:os';
import {resolve} from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../..');
export const programPath = resolve(repositoryRoot, 'bin/run.js');

export interface ProgramResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ProgramOptions {
  env?: Record<string, string>;
  /** Text for stdin; without it stdin is closed. */
  input?: string;
  /** Of all its threads, 0 to 19: the higher, the longer it waits for a processor that others want. */
  niceness?: number;
}

/** @param argv arguments behind the program's name */
export function runProgram(
  argv: readonly string[],
  {env = {}, input, niceness = 0}: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(process.execPath, [programPath, ...argv], {env: programEnvironment(env)});
  if (niceness > 0 && child.pid !== undefined) setPriority(child.pid, niceness);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.end(input ?? '');
  return new Promise((settle) => child.on('close', (code) => settle({code, stdout, stderr})));
}

/** The environment without the variables that are themselves options, so that tests mean the same everywhere. */
export function programEnvironment(added: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PARLANCE_|VLLM_|FORCE_COLOR|NO_COLOR)/.test(name));
  return {...Object.fromEntries(kept), ...added};
}
