/** Runs of `parlance bench` against scripted servers: the program, its flags, and its result as JSON. */
import {runProgram} from './run-program.ts';
import type {Answer, Script, ServedRequest} from './scripted-server/behaviour.ts';
import {type ScriptedServer, withScriptedServer} from './scripted-server/start.ts';

export type BenchResult = Record<string, unknown> & {
  ttfts: number[];
  start_times: number[];
  itls: number[][];
  latencies: number[];
  errors: string[];
  output_lens: number[];
  generated_texts: string[];
  chunk_tokens: number[][];
  failures: Record<string, {count: number; examples: string[]}>;
};

/** A run against a scripted server, with what that served. */
export interface BenchRun {
  code: number | null;
  result: BenchResult;
  stderr: string;
  served: ServedRequest[];
}

/** A usual answer with some other fields. */
export const answer = (fields: Partial<Answer> = {}): Answer => ({
  kind: 'answer',
  ttftMs: 120,
  gapMs: 25,
  numTokens: 12,
  ...fields,
});
/** Short prompts, and the whole result on stdout. */
export const usualFlags = ['--input-len', '8', '--output-len', '8', '--no-progress', '--json', '--save-detailed'];

/** Measures a server that is there. */
export async function benchOn(server: ScriptedServer, flags: string[]): Promise<BenchRun> {
  const {code, stdout, stderr} = await runProgram(['bench', '--url', server.url, ...usualFlags, ...flags]);
  return {code, stderr, result: JSON.parse(stdout) as BenchResult, served: await server.served()};
}

/** Measures a server that follows a script. */
export function bench(script: Script, flags: string[]): Promise<BenchRun> {
  return withScriptedServer(script, (server) => benchOn(server, flags));
}
