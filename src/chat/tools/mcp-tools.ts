/**
 * Tools of MCP servers. The servers of the file are started side by side; one that does not answer in time is a note and
 * not an end. Their names become `server__tool`.
 */
import {readFile} from 'node:fs/promises';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import type {Tool} from './tool.ts';

const startTimeoutMs = 10_000;
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

export interface McpTools {
  tools: Tool[];
  /** What went wrong, a line for each server. */
  notes: string[];
  /** Ends the servers. */
  close(): Promise<void>;
}

/** @throws UsageError when the file is wrong */
export async function openMcpTools(path: string): Promise<McpTools> {
  const servers = Object.entries(await readServers(path));
  const opened = await Promise.allSettled(servers.map(([name, server]) => openServer(name, server)));
  const found = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const notes = opened.flatMap((result, index) =>
    result.status === 'rejected' ? [`MCP server ${servers[index]![0]}: ${(result.reason as Error).message}`] : [],
  );
  return {
    tools: found.flatMap(({tools}) => tools),
    notes,
    close: async () => {
      await Promise.allSettled(found.map(({close}) => close()));
    },
  };
}

async function readServers(path: string): Promise<Record<string, McpServer>> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8'))).mcpServers;
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : (cause as Error).message;
    throw new UsageError(`--mcp-config ${path} cannot be read: ${reason}`, {cause});
  }
}

async function openServer(serverName: string, server: McpServer) {
  const {Client} = await import('@modelcontextprotocol/client');
  const client = new Client({name: 'parlance', version: '1'});
  try {
    await client.connect(await openTransport(server), {timeout: startTimeoutMs});
    const {tools} = await client.listTools(undefined, {timeout: startTimeoutMs});
    return {
      tools: tools.map(
        ({name, description = '', inputSchema}): Tool => ({
          name: toolName(serverName, name),
          description,
          parameters: inputSchema as Record<string, unknown>,
          risk: 'asks',
          run: async (input, {signal}) => {
            const result = await client.callTool({name, arguments: input}, {signal});
            const text = contentText(result.content);
            if (result.isError) throw new Error(text);
            return text;
          },
        }),
      ),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }
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

/** The texts of a result; other kinds are named. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .map((part: {type?: string; text?: string}) => (part.type === 'text' ? (part.text ?? '') : `[${part.type}]`))
    .join('\n');
}
