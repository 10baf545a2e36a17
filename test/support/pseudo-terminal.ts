/** A program in a terminal of its own, by the `script` of util-linux: keys in, bytes out. */
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';

export interface PseudoTerminal {
  pid: number;
  /** All that was written until now. */
  output(): string;
  type(keys: string): void;
  /** Resolves with the milliseconds since the program was started. @throws Error after a while */
  shows(part: string): Promise<number>;
  close(): void;
}

const giveUpMs = 60_000;

export function hasPseudoTerminals(): boolean {
  try {
    execFileSync('script', ['--version']);
    return existsSync('/proc/self/stat');
  } catch {
    return false;
  }
}

/** @param line for a shell; what it needs of the environment stands in `env` */
export async function openPseudoTerminal(line: string, env: NodeJS.ProcessEnv): Promise<PseudoTerminal> {
  let startMs = performance.now();
  const sized = `stty cols 80 rows 24; echo pid:$$.; exec ${line}`;
  const child = spawn('script', ['-qec', sized, '/dev/null'], {env, stdio: ['pipe', 'pipe', 'ignore']});
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const shows = async (part: string) => {
    while (!output.includes(part)) {
      if (performance.now() - startMs > giveUpMs) throw new Error(`"${part}" was not shown: ${output.slice(-500)}`);
      await delay(2);
    }
    return performance.now() - startMs;
  };
  await shows('.\r\n');
  // The shell is no part of what is measured.
  startMs = performance.now();
  return {
    pid: Number(/pid:(\d+)\./.exec(output)![1]),
    output: () => output,
    type: (keys) => void child.stdin.write(keys),
    shows,
    close: () => void child.kill('SIGKILL'),
  };
}

/** Milliseconds of CPU that a process has used. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
