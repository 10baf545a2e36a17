/**
 * Tools of MCP servers. The servers of the file are started side by side; one that does not answer in time is a note and
 * not an end, and one that ends later is started again at the next call. Their names become `server__tool`.
 */
import {readFile} from 'node:fs/promises';
import type {Client} from '@modelcontextprotocol/client';
import * as z from 'zod';
import {UsageError} from '../../core/errors.ts';
import {readFault} from '../../core/util/file-fault.ts';
import {McpLink, type McpServer, mcpServerSchema} from './mcp-link.ts';
import type {Tool} from './tool.ts';

/** Without a sign of progress. */
const callTimeoutMs = 300_000;
const maxNameCharacters = 64;

const fileSchema = z.looseObject({mcpServers: z.record(z.string(), mcpServerSchema)});

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

/**
 * @param signal gives up what has not answered yet
 * @param onNote hears of servers that end while the talk goes on
 */
export async function openMcpTools(
  servers: McpServers,
  signal: AbortSignal,
  onNote: (note: string) => void,
): Promise<McpTools> {
  const links = Object.entries(servers).map(([name, server]) => new McpLink(name, server, {signal, onNote}));
  const opened = await Promise.allSettled(links.map(openServer));
  return {
    tools: opened.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
    notes: opened.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : [])),
    close: async () => {
      await Promise.allSettled(links.map((link) => link.close()));
    },
  };
}

/** @throws UsageError when the file is wrong */
export async function readMcpServers(path: string): Promise<McpServers> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8'))).mcpServers;
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : readFault(cause);
    throw new UsageError(`--mcp-config ${path} cannot be read: ${reason}`, {cause});
  }
}

async function openServer(link: McpLink): Promise<Tool[]> {
  const tools = await link.listTools();
  return tools.map((tool) => toTool(tool, link));
}

function toTool({name, description = '', inputSchema}: McpTool, link: McpLink): Tool {
  return {
    name: toolName(link.name, name),
    description,
    parameters: inputSchema as Record<string, unknown>,
    risk: 'asks',
    async run(input, {signal, report}) {
      const onprogress = ({progress, total, message}: McpProgress) =>
        report(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`);
      const limits = {signal, onprogress, timeout: callTimeoutMs, resetTimeoutOnProgress: true};
      const result = await link.call({name, arguments: input}, limits);
      const text = contentText(result.content, result.structuredContent);
      if (result.isError) throw new Error(text);
      return text;
    },
  };
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
