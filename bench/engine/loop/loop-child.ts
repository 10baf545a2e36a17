/** The parent's half of a bare loop: a child process that runs tasks one after the other. */
import {once} from 'node:events';
import {type Child, startScript} from '../process/child.ts';
import type {LoopMessage, LoopSettings, LoopTask, TokenMark} from './loop-protocol.ts';

export interface LoopChild {
  child: Child;
  /** @throws Error when the child fails or ends */
  run(task: LoopTask): Promise<TokenMark[]>;
}

/** @returns when the engine is loaded; the caller stops the child */
export async function startLoop(file: string, settings: LoopSettings): Promise<LoopChild> {
  const child = startScript(file, settings);
  await receive(child);
  return {
    child,
    async run(task) {
      child.process.send(task);
      const message = await receive(child);
      if (message.type !== 'done') throw new Error(`A task of the bare loop failed: ${JSON.stringify(message)}`);
      return message.marks;
    },
  };
}

async function receive(child: Child): Promise<LoopMessage> {
  const [message] = await child.orExit(once(child.process, 'message'));
  return message as LoopMessage;
}
