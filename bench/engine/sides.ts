/** The two sides: what runs as a bare engine loop and what runs as a server, on the same weights and threads. */

import {basename, join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {engineOptionsSchema} from '../../src/core/config/engine-config.ts';
import type {ModelFiles} from '../../src/core/model/resolve-model.ts';
import {findPackageRoot} from '../../src/core/util/package-root.ts';
import {freePort} from '../../test/support/free-port.ts';
import {llamaBatchSize} from './llama/llama-api.ts';
import type {LlamaServerSettings} from './llama/llama-server.ts';
import {type LoopChild, startLoop} from './loop/loop-child.ts';
import type {LoopSettings} from './loop/loop-protocol.ts';
import {Child, startScript} from './process/child.ts';
import type {BenchPrompts} from './prompts.ts';
import {mostStreams, type Workload} from './workload.ts';

export const sideNames = ['ours', 'llama'] as const;
export type SideName = (typeof sideNames)[number];

export interface StartedServer {
  child: Child;
  url: string;
}

export interface Side {
  name: SideName;
  /** What the figures of its server are figures of. */
  serverTitle: string;
  /** Most prompt tokens of one forward pass of its server. */
  chunkTokens: number;
  startLoop(): Promise<LoopChild>;
  startServer(): Promise<StartedServer>;
}

export interface SideSettings {
  /** The model as named by the user; null = the embedded one. */
  model: string | null;
  files: ModelFiles;
  threads: number;
  workload: Workload;
  prompts: BenchPrompts;
  llamaEntry: string;
  /** A `llama-server` binary of llama.cpp; null = the small server of this benchmark. */
  llamaServerPath: string | null;
}

/** Room for answers, the second question and what a template adds, besides the longest prompt. */
const spareTokens = 200;

const here = import.meta.dirname;
const listening = /Listening on (http:\/\/\S+)/;

export function createSides(settings: SideSettings): Record<SideName, Side> {
  return {ours: ourSide(settings), llama: llamaSide(settings)};
}

function ourSide(settings: SideSettings): Side {
  return {
    name: 'ours',
    serverTitle: 'bin/run.js serve',
    chunkTokens: engineOptionsSchema.parse({}).maxNumBatchedTokens,
    startLoop: () => startLoop(join(here, 'loop/our-loop.ts'), loopSettings(settings)),
    async startServer() {
      const model = settings.model === null ? [] : [settings.model];
      const args = ['serve', ...model, '--host', '127.0.0.1', '--port', '0', '--threads', `${settings.threads}`];
      const child = new Child({command: process.execPath, args: [join(findPackageRoot(), 'bin/run.js'), ...args]});
      return {child, url: (await child.waitForOutput(listening))[1]};
    },
  };
}

function llamaSide(settings: SideSettings): Side {
  const {llamaServerPath} = settings;
  return {
    name: 'llama',
    serverTitle:
      llamaServerPath === null
        ? "a small SSE server of this benchmark around node-llama-cpp, not llama.cpp's own"
        : `llama.cpp's own server (${basename(llamaServerPath)})`,
    chunkTokens: llamaBatchSize,
    startLoop: () => startLoop(join(here, 'loop/llama-loop.ts'), loopSettings(settings)),
    startServer: () =>
      llamaServerPath === null ? startSmallServer(settings) : startLlamaServer(llamaServerPath, settings),
  };
}

async function startSmallServer(settings: SideSettings): Promise<StartedServer> {
  const config: LlamaServerSettings = {
    ...llamaSettings(settings),
    sequences: serverSlots(settings),
    contextTokens: serverContextTokens(settings),
    template: settings.prompts.template,
  };
  const child = startScript(join(here, 'llama/llama-server.ts'), config);
  return {child, url: (await child.waitForOutput(listening))[1]};
}

/** llama.cpp's own server, with as many slots as streams and room in each. */
async function startLlamaServer(command: string, settings: SideSettings): Promise<StartedServer> {
  const port = await freePort();
  const slots = serverSlots(settings);
  const flags: Record<string, string | number> = {
    '--model': settings.files.weightsPath,
    '--host': '127.0.0.1',
    '--port': port,
    '--threads': settings.threads,
    '--threads-batch': settings.threads,
    '--parallel': slots,
    '--ctx-size': slots * serverContextTokens(settings),
  };
  const child = new Child({command, args: [...Object.entries(flags).flat().map(String), '--jinja']});
  const url = `http://127.0.0.1:${port}`;
  await child.orExit(untilHealthy(url));
  return {child, url};
}

function loopSettings(settings: SideSettings): LoopSettings {
  const {prefillLengths, decodePromptTokens, decodeTokens, httpPromptTokens, httpOutputTokens} = settings.workload;
  const longest = Math.max(...prefillLengths, decodePromptTokens + decodeTokens, httpPromptTokens + httpOutputTokens);
  return {...llamaSettings(settings), contextTokens: longest + 8};
}

function llamaSettings({llamaEntry, files, threads}: SideSettings) {
  return {llamaEntry, modelPath: files.weightsPath, threads};
}

/** The pause is measured with one request more than the streams that run. */
function serverSlots({workload}: SideSettings): number {
  return Math.max(mostStreams(workload), workload.pauseStreams + 1);
}

function serverContextTokens({workload}: SideSettings): number {
  return workload.chatPromptTokens + spareTokens;
}

/** @throws Error when the server is not healthy within a minute */
async function untilHealthy(url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const response = await fetch(`${url}/health`).catch(() => null);
    if (response?.ok) return;
    await setTimeout(100);
  }
  throw new Error(`The server at ${url} did not become healthy`);
}
