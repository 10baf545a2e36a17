/** Binds the port or the Unix socket, with an error that says what is wrong and what to try. */
import {once} from 'node:events';
import {rm} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {UsageError} from '../core/errors.ts';
import {findPortHolder} from './port-holder.ts';

export interface ListenAddress {
  host: string;
  /** 0 = any free one. */
  port: number;
}

/** Exit code when the address cannot be bound. */
const EXIT_CODE_ADDRESS = 4;
const PORTS_TO_TRY = 20;
const MAX_COMMAND_CHARACTERS = 80;

const REASONS: Record<string, string> = {
  EACCES: 'it needs the rights of an administrator',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
  EAFNOSUPPORT: 'this machine does not have that kind of address',
};

/** @throws the error of the system */
async function bind(server: Server, address: ListenAddress | {path: string}): Promise<void> {
  server.listen(address);
  await once(server, 'listening');
}

/** The next port that can be bound; null when none of the following is free. */
async function findFreePort({host, port}: ListenAddress): Promise<number | null> {
  for (let candidate = port + 1; candidate <= Math.min(port + PORTS_TO_TRY, 65535); candidate++) {
    const server = createServer();
    const isFree = await bind(server, {host, port: candidate}).then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return candidate;
  }
  return null;
}

async function portInUseError(address: ListenAddress, cause: unknown): Promise<UsageError> {
  const holder = await findPortHolder(address.port);
  const command = holder?.command.slice(0, MAX_COMMAND_CHARACTERS);
  const by = holder ? ` by process ${holder.pid}${command ? ` (${command})` : ''}` : '';
  const freePort = await findFreePort(address);
  const hint = freePort === null ? 'Choose another port with --port.' : `Port ${freePort} is free: --port ${freePort}`;
  return new UsageError(`Port ${address.port} is in use${by}.`, {exitCode: EXIT_CODE_ADDRESS, hint, cause});
}

function bindError(address: ListenAddress, cause: NodeJS.ErrnoException): Promise<UsageError> | UsageError {
  if (cause.code === 'EADDRINUSE') return portInUseError(address, cause);
  const reason = REASONS[cause.code ?? ''] ?? cause.message;
  return new UsageError(`Cannot listen on ${address.host}, port ${address.port}: ${reason}.`, {
    exitCode: EXIT_CODE_ADDRESS,
    hint: 'Choose another address with --host and --port.',
    cause,
  });
}

/**
 * Binds the address and reports the port in use.
 * @throws UsageError with exit code 4
 */
export async function listen(server: Server, address: ListenAddress): Promise<number> {
  try {
    await bind(server, address);
  } catch (error) {
    throw await bindError(address, error as NodeJS.ErrnoException);
  }
  return (server.address() as AddressInfo).port;
}

/** True when a program answers at the socket. */
async function isSocketInUse(path: string): Promise<boolean> {
  const socket = connect({path});
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const socketFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'a program listens there',
  EACCES: 'its folder is missing or may not be written to',
};

/**
 * Binds a Unix socket; the file that a killed server left behind is replaced.
 * @throws UsageError with exit code 4
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  try {
    await bind(server, {path}).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' || (await isSocketInUse(path))) throw error;
      await rm(path);
      await bind(server, {path});
    });
  } catch (cause) {
    const {code, message} = cause as NodeJS.ErrnoException;
    const reason = socketFaults[code ?? ''] ?? message;
    throw new UsageError(`Cannot listen on the Unix socket ${path}: ${reason}.`, {exitCode: EXIT_CODE_ADDRESS, cause});
  }
}

/** `http://host:port`, with brackets where IPv6 needs them. */
export function urlOf({host, port}: ListenAddress, protocol: 'http' | 'https' = 'http'): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
