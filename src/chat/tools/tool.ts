/** What a tool is, wherever it comes from: built in, declared in a file, or offered by an MCP server. */

export interface ToolResult {
  text: string;
  isError: boolean;
}

export interface Tool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Record<string, unknown>;
  /** `safe` runs without asking; `asks` is confirmed unless calls are allowed; `always-asks` changes things. */
  risk: 'safe' | 'asks' | 'always-asks';
  /** @throws Error whose message the model gets */
  run(input: Record<string, unknown>, context: ToolContext): Promise<string>;
}

export interface ToolContext {
  signal: AbortSignal;
  /** A line about how far it is, for the person. */
  report(line: string): void;
  /** Files outside are not touched. */
  folder: string;
}
