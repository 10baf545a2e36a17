/** The child's half of a bare loop: loads an engine, then runs the tasks that arrive and marks every token's time. */
import type {BareLoop, LoopMessage, LoopSettings, LoopTask, TokenMark} from './loop-protocol.ts';

/** Serves until the parent goes away. */
export async function serveLoop(open: (settings: LoopSettings) => Promise<BareLoop>): Promise<void> {
  process.on('disconnect', () => process.exit());
  const loop = await open(JSON.parse(process.argv[2]) as LoopSettings);
  process.on('message', async (task: LoopTask) => reply(await runTask(loop, task)));
  reply({type: 'ready'});
}

async function runTask(loop: BareLoop, task: LoopTask): Promise<LoopMessage> {
  const marks: TokenMark[] = [];
  const startedAt = performance.now();
  const startCpu = process.cpuUsage();
  try {
    await loop.run(task, (stream) => {
      const {user, system} = process.cpuUsage(startCpu);
      marks.push({stream, wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000});
    });
    return {type: 'done', marks};
  } catch (error) {
    return {type: 'failed', message: (error as Error).stack ?? String(error)};
  }
}

function reply(message: LoopMessage): void {
  process.send?.(message);
}
