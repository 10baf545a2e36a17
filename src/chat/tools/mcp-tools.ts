/**
 * Tools of MCP servers. The servers of the file are started side by side; one that does not answer in time is a note and
 * not an end. Their names become `server__tool`.
 */
import {readFile} from 'node:fs/promises';
import type {Client} from '@modelcontextprotocol/client';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import type {Tool} from './tool.ts';

const startTimeoutMs = 10_000;
/** Without a sign of progress. */
const callTimeoutMs = 300_000;
const maxNameCharacters = 64;

const serverSchema = z.union([
  z.looseObject({
    command: z.string(),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
  }),
  z.looseObject({url: z.url(), headers: z.record(z.string(), z.string()).default({})}),
]);

const fileSchema = z.looseObject({mcpServers: z.record(z.string(), serverSchema)});

type McpServer = z.infer<typeof serverSchema>;
type McpTool = Awaited<ReturnType<Client['listTools']>>['tools'][number];

interface McpProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export type McpServers = Readonly<Record<string, McpServer>>;

export interface McpTools {
  tools: Tool[];
  /** What went wrong, a line for each server. */
  notes: string[];
  /** Ends the servers. */
  close(): Promise<void>;
}

/** @param signal gives up what has not answered yet */
export async function openMcpTools(servers: McpServers, signal: AbortSignal): Promise<McpTools> {
  const named = Object.entries(servers);
  const opened = await Promise.allSettled(named.map(([name, server]) => openServer(name, server, signal)));
  const found = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const notes = opened.flatMap((result, index) =>
    result.status === 'rejected' ? [`MCP server ${named[index]![0]}: ${startFault(result.reason)}`] : [],
  );
  return {
    tools: found.flatMap(({tools}) => tools),
    notes,
    close: async () => {
      await Promise.allSettled(found.map(({close}) => close()));
    },
  };
}

/** In words of what was asked for, where the package has only its own. */
function startFault(error: Error & {code?: unknown; path?: string}): string {
  if (error.code === 'ENOENT') return `there is no program ${error.path}`;
  if (error.code === 'REQUEST_TIMEOUT') return `no answer within ${startTimeoutMs / 1000} s`;
  return error.message;
}

/** @throws UsageError when the file is wrong */
export async function readMcpServers(path: string): Promise<McpServers> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8'))).mcpServers;
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : (cause as Error).message;
    throw new UsageError(`--mcp-config ${path} cannot be read: ${reason}`, {cause});
  }
}

async function openServer(serverName: string, server: McpServer, signal: AbortSignal) {
  const {Client} = await import('@modelcontextprotocol/client');
  const client = new Client({name: 'parlance', version: '1'});
  const limits = {timeout: startTimeoutMs, signal};
  try {
    await client.connect(await openTransport(server), limits);
    const offersTools = client.getServerCapabilities()?.tools !== undefined;
    const {tools} = offersTools ? await client.listTools(undefined, limits) : {tools: []};
    return {tools: tools.map((tool) => toTool(serverName, tool, client)), close: () => client.close()};
  } catch (error) {
    // A server that hangs takes its time to end; nobody has to wait for it.
    void client.close().catch(() => {});
    throw error;
  }
}

function toTool(serverName: string, {name, description = '', inputSchema}: McpTool, client: Client): Tool {
  return {
    name: toolName(serverName, name),
    description,
    parameters: inputSchema as Record<string, unknown>,
    risk: 'asks',
    async run(input, {signal, report}) {
      const onprogress = ({progress, total, message}: McpProgress) =>
        report(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`);
      const limits = {signal, onprogress, timeout: callTimeoutMs, resetTimeoutOnProgress: true};
      const result = await client.callTool({name, arguments: input}, limits);
      const text = contentText(result.content, result.structuredContent);
      if (result.isError) throw new Error(text);
      return text;
    },
  };
}

async function openTransport(server: McpServer) {
  if ('url' in server) {
    const {StreamableHTTPClientTransport} = await import('@modelcontextprotocol/client');
    const {url, headers} = server as {url: string; headers: Record<string, string>};
    return new StreamableHTTPClientTransport(new URL(url), {requestInit: {headers}});
  }
  const {StdioClientTransport, getDefaultEnvironment} = await import('@modelcontextprotocol/client/stdio');
  const {command, args, env} = server as {command: string; args: string[]; env: Record<string, string>};
  // What a server writes to stderr must not land on the screen.
  return new StdioClientTransport({command, args, env: {...getDefaultEnvironment(), ...env}, stderr: 'ignore'});
}

/** Only what the API allows in names of functions. */
export function toolName(server: string, tool: string): string {
  return `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxNameCharacters);
}

/** The texts of a result; other kinds are named. A result may be an object only. */
export function contentText(content: unknown, structured?: unknown): string {
  const parts = Array.isArray(content) ? content : [];
  if (parts.length === 0 && structured !== undefined) return JSON.stringify(structured);
  return parts.map(partText).join('\n');
}

interface ContentPart {
  type?: string;
  text?: string;
  mimeType?: string;
  uri?: string;
  resource?: {uri?: string; text?: string; mimeType?: string};
}

function partText({type, text, mimeType, uri, resource}: ContentPart): string {
  if (type === 'text') return text ?? '';
  if (resource?.text !== undefined) return `${resource.uri ?? ''}:\n${resource.text}`;
  const details = [type, mimeType ?? resource?.mimeType, uri ?? resource?.uri].filter((part) => part !== undefined);
  return `[${details.join(' ')}]`;
}
