/**
 * One MCP server for the length of a talk: started, asked, and started again at the next call when it has ended in
 * between. Whoever listens is told once for each end.
 */
import type {EventEmitter} from 'node:events';
import type {Client} from '@modelcontextprotocol/client';
import * as z from 'zod';
import {withoutControls} from '../safe-text.ts';

const startTimeoutMs = 10_000;
const maxKeptCharacters = 4000;
const maxShownCharacters = 200;

export const mcpServerSchema = z.union([
  z.looseObject({
    command: z.string(),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
  }),
  z.looseObject({url: z.url(), headers: z.record(z.string(), z.string()).default({})}),
]);

export type McpServer = z.infer<typeof mcpServerSchema>;

export interface McpLinkParts {
  /** Gives up a start that goes on. */
  signal: AbortSignal;
  onNote: (note: string) => void;
}

type CallArguments = Parameters<Client['callTool']>;

export class McpLink {
  readonly name: string;
  readonly #startLimits: {timeout: number; signal: AbortSignal};
  readonly #server: McpServer;
  readonly #onNote: (note: string) => void;
  #client: Promise<Client> | null = null;
  #isLeaving = false;

  constructor(name: string, server: McpServer, {signal, onNote}: McpLinkParts) {
    this.name = name;
    this.#startLimits = {timeout: startTimeoutMs, signal};
    this.#server = server;
    this.#onNote = onNote;
  }

  /** Starts the server unless it runs. */
  #running(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    const starting = this.#start();
    starting.catch(() => (this.#client = null));
    this.#client = starting;
    return starting;
  }

  /** @throws Error that names the server */
  async listTools() {
    const client = await this.#running();
    if (client.getServerCapabilities()?.tools === undefined) return [];
    try {
      return (await client.listTools(undefined, this.#startLimits)).tools;
    } catch (error) {
      throw this.#startError(error);
    }
  }

  /** @throws Error whose message the model gets */
  async call(...[request, limits]: CallArguments) {
    const client = await this.#running();
    try {
      return await client.callTool(request, limits);
    } catch (error) {
      if ((error as {code?: unknown}).code !== 'CONNECTION_CLOSED') throw error;
      throw new Error(`The MCP server ${this.name} ended during this call. The next call starts it again.`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    this.#isLeaving = true;
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  async #start(): Promise<Client> {
    const {Client} = await import('@modelcontextprotocol/client');
    const client = new Client({name: 'parlance', version: '1'});
    const {transport, lastWords} = await openTransport(this.#server);
    try {
      await client.connect(transport, this.#startLimits);
    } catch (error) {
      // A server that hangs takes its time to end; nobody has to wait for it.
      void client.close().catch(() => {});
      throw this.#startError(error, lastWords());
    }
    client.onclose = () => this.#noteEnd(lastWords());
    return client;
  }

  #startError(error: unknown, lastWords = ''): Error {
    return new Error(`MCP server ${this.name}: ${startFault(error as Error)}${inBrackets(lastWords)}`, {cause: error});
  }

  #noteEnd(lastWords: string): void {
    this.#client = null;
    if (this.#isLeaving) return;
    this.#onNote(`MCP server ${this.name} has ended${inBrackets(lastWords)}; the next call starts it again.`);
  }
}

/** In words of what was asked for, where the package has only its own. */
function startFault(error: Error & {code?: unknown; path?: string}): string {
  if (error.code === 'ENOENT') return `there is no program ${error.path}`;
  if (error.code === 'REQUEST_TIMEOUT') return `no answer within ${startTimeoutMs / 1000} s`;
  return error.message;
}

interface OpenedTransport {
  transport: Parameters<Client['connect']>[0];
  /** The last line that the server wrote to stderr, where programs say why they end. */
  lastWords: () => string;
}

async function openTransport(server: McpServer): Promise<OpenedTransport> {
  if ('url' in server) {
    const {StreamableHTTPClientTransport} = await import('@modelcontextprotocol/client');
    const {url, headers} = server as {url: string; headers: Record<string, string>};
    const transport = new StreamableHTTPClientTransport(new URL(url), {requestInit: {headers}});
    return {transport, lastWords: () => ''};
  }
  const {StdioClientTransport, getDefaultEnvironment} = await import('@modelcontextprotocol/client/stdio');
  const {command, args, env} = server as {command: string; args: string[]; env: Record<string, string>};
  // What a server writes to stderr must not land on the screen.
  const environment = {...getDefaultEnvironment(), ...env};
  const transport = new StdioClientTransport({command, args, env: environment, stderr: 'pipe'});
  return {transport, lastWords: keptEnd(transport.stderr)};
}

/** Reads a stream all the time, and keeps no more than its end. */
function keptEnd(stream: EventEmitter | null): () => string {
  let end = '';
  stream?.on('data', (bytes: Buffer) => {
    end = (end + bytes.toString('utf8')).slice(-maxKeptCharacters);
  });
  return () => lastError(end);
}

/** The line that names an error, else the last one: stacks of calls stand below what matters. */
function lastError(text: string): string {
  const lines = withoutControls(text)
    .split('\n')
    .map((line) => line.trim());
  const said = lines.filter((line) => line !== '' && !line.startsWith('at '));
  const line = said.findLast((each) => /error|exception|cannot|not found/i.test(each)) ?? said.at(-1) ?? '';
  return line.slice(0, maxShownCharacters);
}

function inBrackets(text: string): string {
  return text === '' ? '' : ` (${text})`;
}
