/** Which process listens on a port, where `/proc` tells (Linux); null elsewhere and for processes of other users. */
import {readdir, readFile, readlink} from 'node:fs/promises';

export interface PortHolder {
  pid: number;
  command: string;
}

const LISTENING = '0A';
/** Columns of /proc/net/tcp. */
const [LOCAL_ADDRESS, STATE, INODE] = [1, 3, 9];

/** Inodes of the sockets that listen on a port, from one table of the kernel. */
export function listeningInodes(table: string, port: number): string[] {
  const portInHex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  return rows
    .filter((row) => row[LOCAL_ADDRESS]?.endsWith(`:${portInHex}`) && row[STATE] === LISTENING)
    .map((row) => row[INODE]);
}

async function holdsSocket(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const targets = await Promise.all(descriptors.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return targets.some((target) => inodes.has(target));
}

async function commandOf(pid: string): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.replaceAll('\0', ' ').trim();
}

export async function findPortHolder(port: number): Promise<PortHolder | null> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`));
  if (inodes.size === 0) return null;
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.filter((name) => /^\d+$/.test(name))) {
    if (await holdsSocket(pid, inodes)) return {pid: Number(pid), command: await commandOf(pid)};
  }
  return null;
}
