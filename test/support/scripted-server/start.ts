/** Starts a scripted server in a process of its own: one inside the measuring process would be in its own way. */
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import type {Script, ServedRequest} from './behaviour.ts';

export interface ScriptedServer {
  url: string;
  served(): Promise<ServedRequest[]>;
  stop(): Promise<void>;
}

export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const path = fileURLToPath(new URL('./process.ts', import.meta.url));
  const child = fork(path, [JSON.stringify(script)], {execArgv: ['--import', 'tsx']});
  const [port] = (await once(child, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    served: async () => (await (await fetch(`${url}/log`)).json()) as ServedRequest[],
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Runs with a server and stops it whatever happens. */
export async function withScriptedServer<T>(script: Script, use: (server: ScriptedServer) => Promise<T>): Promise<T> {
  const server = await startScriptedServer(script);
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}
