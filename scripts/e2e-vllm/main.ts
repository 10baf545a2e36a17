/**
 * `npm run e2e:vllm -- [MODEL_FOLDER] [--venv FOLDER]`: our server in front of the real vLLM, on a CPU, by hand. Makes a
 * virtual environment with vLLM's CPU build when the folder has none, starts `vllm serve --enable-scale-out` and
 * `parlance serve --engine vllm` with the same model, and compares greedy answers of both, directly and through the front.
 * Takes gigabytes and minutes, so no continuous integration runs it.
 */
import {existsSync, mkdirSync, mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {freePort} from '../../test/support/free-port.ts';
import {ChildServer} from './child-server.ts';
import {InstallError, installVllm, isInstalled} from './install-vllm.ts';
import {runTour} from './tour.ts';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    venv: {type: 'string', default: join(tmpdir(), 'parlance-e2e-vllm')},
    'start-minutes': {type: 'string', default: '15'},
  },
});

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** A Llama of three layers beside the repository. */
const usualModel = fromHere('../../../shared/models-tiny/llama');
const startedAt = performance.now();
const servers: ChildServer[] = [];

function tell(line: string): void {
  process.stdout.write(`[${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s] ${line}\n`);
}

/** @throws InstallError when it is no folder that vLLM can read */
function modelFolder(): string {
  const folder = resolve(positionals[0] ?? usualModel);
  if (existsSync(join(folder, 'config.json'))) return folder;
  throw new InstallError(
    `${folder} is no folder with a config.json and safetensors. Usage: npm run e2e:vllm -- MODEL_FOLDER [--venv FOLDER]`,
  );
}

async function start(name: string, program: string, args: string[], env: Record<string, string>, minutes: number) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(logFolder, `${name}.log`);
  tell(`${name} starts; its log: ${logFile}`);
  const server = new ChildServer({name, program, args: [...args, '--port', String(port)], env, url, logFile});
  servers.push(server);
  await server.untilHealthy(minutes);
  return url;
}

const logFolder = mkdtempSync(join(tmpdir(), 'parlance-e2e-vllm-logs-'));
const shared = ['--served-model-name', 'model', '--enable-auto-tool-choice', '--tool-call-parser', 'hermes'];

function startVllm(model: string, venv: string): Promise<string> {
  const flags = ['--enable-scale-out', '--dtype', 'float32', '--enforce-eager', ...shared];
  const home = join(venv, 'home');
  mkdirSync(home, {recursive: true});
  const env = {VLLM_CPU_KVCACHE_SPACE: '1', HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1', VLLM_CACHE_ROOT: home};
  const args = ['-m', 'vllm.entrypoints.cli.main', 'serve', model, ...flags];
  return start('vllm', join(venv, 'bin/python'), args, env, Number(values['start-minutes']));
}

function startFront(model: string, vllmUrl: string): Promise<string> {
  const args = ['--import', 'tsx', fromHere('../../bin/dev.js'), 'serve', model, ...shared];
  return start('front', process.execPath, [...args, '--engine', 'vllm', '--engine-url', vllmUrl], {}, 2);
}

async function main(): Promise<number> {
  const model = modelFolder();
  const venv = resolve(values.venv);
  if (isInstalled(venv)) tell(`vLLM is in ${venv} already`);
  else installVllm(venv, tell);
  const direct = await startVllm(model, venv);
  const front = await startFront(model, direct);
  tell('both answer; the tour begins');
  const results = await runTour({direct, front, model: 'model'});
  for (const {name, fault} of results) tell(`${fault === null ? 'ok  ' : 'FAIL'} ${name}${fault ? `: ${fault}` : ''}`);
  const numRight = results.filter(({fault}) => fault === null).length;
  tell(`${numRight} of ${results.length} answers are the same`);
  return numRight === results.length ? 0 : 1;
}

async function stopAll(): Promise<void> {
  for (const server of servers.splice(0).reverse()) await server.stop();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  tell(error instanceof InstallError ? error.message : String((error as Error).stack));
} finally {
  await stopAll();
}
