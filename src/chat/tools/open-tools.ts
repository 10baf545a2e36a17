/** From the options of the command to the tools of a talk. */
import {existsSync} from 'node:fs';
import type {ChatOptions} from '../options.ts';
import {builtInTool} from './built-in-tools.ts';
import {ToolBox} from './tool-box.ts';
import {readToolsFile} from './tools-file.ts';

export interface OpenedTools {
  box: ToolBox;
  /** What did not work, for the person. */
  notes: string[];
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
  if (mcpConfig === null) return {box, notes: [], close: async () => {}};
  const {openMcpTools} = await import('./mcp-tools.ts');
  const mcp = await openMcpTools(mcpConfig);
  for (const tool of mcp.tools) box.add(tool);
  return {box, notes: mcp.notes, close: mcp.close};
}

function isFile(name: string): boolean {
  return name.endsWith('.json') || (name.includes('/') && existsSync(name));
}
