/**
 * Measures the screen of `parlance chat` on purpose, with the built command line in a terminal: `npx tsx
 * test/perf/chat.ts [rounds]`. The time to the prompt, with a server and with the embedded model, which loads behind it,
 * also as a ratio to `node -e 0`; and what an answer of 2000 tokens per second costs: CPU of the client and bytes for the
 * terminal, for each token. Exits 1 above a limit.
 */
import {spawnSync} from 'node:child_process';
import {cpuMs, hasPseudoTerminals, openPseudoTerminal} from '../support/pseudo-terminal.ts';
import {programEnvironment, programPath} from '../support/run-program.ts';
import {startTalkingServer} from '../support/talking-server.ts';

const rounds = Number(process.argv[2] ?? 5);
const tokensPerSecond = 2000;
const numTokens = 5 * tokensPerSecond;
const limits = {promptMs: 1000, promptRatio: 6, cpuMicrosecondsPerToken: 250, bytesPerToken: 30};

const env = programEnvironment({TERM: 'xterm-256color'});

function bareNodeMs(): number {
  const startMs = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - startMs;
}

/** @param flags what answers */
async function promptMs(flags: string): Promise<number> {
  const terminal = await openPseudoTerminal(`${process.execPath} ${programPath} chat ${flags} --no-save`, env);
  try {
    return await terminal.shows('Say something');
  } finally {
    terminal.close();
  }
}

async function measureStream(url: string) {
  const terminal = await openPseudoTerminal(`${process.execPath} ${programPath} chat --url ${url} --no-save`, env);
  try {
    await terminal.shows('scripted');
    const before = {cpu: cpuMs(terminal.pid), bytes: terminal.output().length};
    terminal.type(`fast ${numTokens} ${tokensPerSecond}\r`);
    await terminal.shows('You sent');
    const bytes = terminal.output().slice(before.bytes);
    if (/\u001b\[[23]J/.test(bytes)) throw new Error('the screen was cleared');
    return {
      cpuMicroseconds: ((cpuMs(terminal.pid) - before.cpu) * 1000) / numTokens,
      bytes: Buffer.byteLength(bytes) / numTokens,
    };
  } finally {
    terminal.close();
  }
}

function report(name: string, value: number, limit: number): void {
  if (value > limit) process.exitCode = 1;
  console.log(`${name.padEnd(28)} ${value.toFixed(2).padStart(8)} (limit ${limit})${value > limit ? ' TOO MUCH' : ''}`);
}

const server = await startTalkingServer();
try {
  if (!hasPseudoTerminals()) throw new Error('needs the script command of util-linux, and /proc');
  const best = {bare: Infinity, remote: Infinity, embedded: Infinity};
  for (let round = 0; round < rounds; round++) {
    best.bare = Math.min(best.bare, bareNodeMs());
    best.remote = Math.min(best.remote, await promptMs(`--url ${server.url}`));
    best.embedded = Math.min(best.embedded, await promptMs(''));
  }
  console.log(`node -e 0 takes ${best.bare.toFixed(0)} ms`);
  report('ms to the prompt, --url', best.remote, limits.promptMs);
  report('ms to the prompt, embedded', best.embedded, limits.promptMs);
  report('prompt, ratio to node -e 0', best.remote / best.bare, limits.promptRatio);
  const {cpuMicroseconds, bytes} = await measureStream(server.url);
  report('CPU in µs of each token', cpuMicroseconds, limits.cpuMicrosecondsPerToken);
  report('bytes of each token', bytes, limits.bytesPerToken);
} finally {
  server.close();
}
