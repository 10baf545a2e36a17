/** From the options of the command to the tools of a talk. */
import {existsSync} from 'node:fs';
import type {BackendFacts} from '../backend/backend.ts';
import type {ChatOptions} from '../options.ts';
import {builtInTool} from './built-in-tools.ts';
import type {McpServers, McpTools} from './mcp-tools.ts';
import {ToolBox} from './tool-box.ts';
import {readToolsFile} from './tools-file.ts';

export interface OpenedTools {
  box: ToolBox;
  /** Starts the MCP servers, once. Never fails. @returns what did not work, for the person */
  start(): Promise<string[]>;
  /** True until all servers have answered or were given up. */
  isStarting(): boolean;
  /** Whoever shows the talk hears of servers that end in the middle of it. */
  onNote(listener: (note: string) => void): void;
  /** Ends the servers. */
  close(): Promise<void>;
}

type ToolOptions = Pick<ChatOptions, 'tools' | 'toolApproval' | 'yesIKnow' | 'mcpConfig'>;

/** @throws UsageError */
export async function openTools(
  {tools, toolApproval, yesIKnow, mcpConfig}: ToolOptions,
  folder: string,
): Promise<OpenedTools> {
  const names = tools.flatMap((entry) => entry.split(',')).filter((name) => name !== '');
  const found = await Promise.all(names.map((name) => (isFile(name) ? readToolsFile(name) : builtInTool(name))));
  const box = new ToolBox(found.flat(), {approval: toolApproval, allowsChanges: yesIKnow, folder});
  if (mcpConfig === null) return withoutServers(box);
  const {readMcpServers} = await import('./mcp-tools.ts');
  return withServers(box, await readMcpServers(mcpConfig));
}

function withoutServers(box: ToolBox): OpenedTools {
  return {box, start: async () => [], isStarting: () => false, onNote() {}, close: async () => {}};
}

function withServers(box: ToolBox, servers: McpServers): OpenedTools {
  const leaving = new AbortController();
  let opening: Promise<McpTools> | null = null;
  let isStarting = true;
  let tellNote: (note: string) => void = () => {};
  const open = async () => {
    const {openMcpTools} = await import('./mcp-tools.ts');
    const mcp = await openMcpTools(servers, leaving.signal, (note) => tellNote(note));
    for (const tool of mcp.tools) box.add(tool);
    isStarting = false;
    return mcp;
  };
  return {
    box,
    start: async () => (await (opening ??= open())).notes,
    isStarting: () => isStarting,
    onNote: (listener) => (tellNote = listener),
    async close() {
      leaving.abort();
      await (await opening)?.close();
    },
  };
}

function isFile(name: string): boolean {
  return name.endsWith('.json') || (name.includes('/') && existsSync(name));
}

/** Tools that a model cannot call would be a riddle to the person. Null when nothing is to be said. */
export function unreadCallsNote({modelName, readsToolCalls}: BackendFacts, {numOn}: ToolBox): string | null {
  if (readsToolCalls !== false || numOn === 0) return null;
  return `The chat template of ${modelName} does not show how it calls tools, so it will call none. --tool-call-parser NAME says it, e.g. hermes.`;
}
