/** A port for programs that are told theirs before they start; also for `bench` and `scripts`. */
import {once} from 'node:events';
import {type AddressInfo, createServer} from 'node:net';

/** @returns a port of this machine that nobody listens on now */
export async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const {port} = holder.address() as AddressInfo;
  holder.close();
  await once(holder, 'close');
  return port;
}
