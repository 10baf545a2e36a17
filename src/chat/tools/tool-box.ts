/**
 * The tools of a talk: which there are, which may run without asking, and running one. A fault in a call is a result
 * that the model gets, never an end of the talk.
 */
import type {ToolCall} from '../conversation/messages.ts';
import {checkArguments} from './check-arguments.ts';
import type {Tool, ToolContext, ToolResult} from './tool.ts';

export type ToolApproval = 'ask' | 'auto' | 'never';

export interface ToolBoxOptions {
  approval: ToolApproval;
  /** With `auto` nothing at all asks. */
  allowsChanges: boolean;
  folder: string;
}

export type Verdict =
  | {type: 'allowed'}
  /** Some tools are asked for each time, whatever was said before. */
  | {type: 'ask'; canAllow: boolean}
  | {type: 'fault'; text: string};

/** Longer results are cut in the middle. */
const maxResultCharacters = 16_000;

export class ToolBox {
  readonly #tools = new Map<string, Tool>();
  readonly #switchedOff = new Set<string>();
  readonly #allowed = new Set<string>();
  readonly #options: ToolBoxOptions;

  constructor(tools: readonly Tool[], options: ToolBoxOptions) {
    this.#options = options;
    for (const tool of tools) this.add(tool);
  }

  add(tool: Tool): void {
    this.#tools.set(tool.name, tool);
  }

  /** Whether or not they are switched on. */
  list(): {tool: Tool; isOn: boolean}[] {
    return [...this.#tools.values()].map((tool) => ({tool, isOn: !this.#switchedOff.has(tool.name)}));
  }

  get numOn(): number {
    return this.#tools.size - this.#switchedOff.size;
  }

  /** @returns false when there is no such tool */
  switch(name: string, isOn: boolean): boolean {
    if (!this.#tools.has(name)) return false;
    if (isOn) this.#switchedOff.delete(name);
    else this.#switchedOff.add(name);
    return true;
  }

  /** As requests carry them. */
  definitions(): object[] {
    const on = this.list().filter(({isOn}) => isOn);
    return on.map(({tool: {name, description, parameters}}) => ({
      type: 'function',
      function: {name, description, parameters},
    }));
  }

  /** From now on calls of this tool are not asked for. */
  allow(name: string): void {
    this.#allowed.add(name);
  }

  verdict({function: {name, arguments: text}}: ToolCall): Verdict {
    const tool = this.#tools.get(name);
    if (!tool || this.#switchedOff.has(name)) return {type: 'fault', text: `There is no tool ${name}.`};
    const checked = checkArguments(text, tool.parameters);
    if ('fault' in checked) return {type: 'fault', text: checked.fault};
    if (this.#options.approval === 'never') return {type: 'fault', text: 'Calls of tools are not allowed here.'};
    return this.#runsUnasked(tool) ? {type: 'allowed'} : {type: 'ask', canAllow: tool.risk !== 'always-asks'};
  }

  #runsUnasked({name, risk}: Tool): boolean {
    const {approval, allowsChanges} = this.#options;
    if (risk === 'always-asks') return approval === 'auto' && allowsChanges;
    return risk === 'safe' || approval === 'auto' || this.#allowed.has(name);
  }

  /** @param context what the tool gets besides its arguments */
  async run(
    {function: {name, arguments: text}}: ToolCall,
    context: Pick<ToolContext, 'signal' | 'report'>,
  ): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) return {text: `There is no tool ${name}.`, isError: true};
    const checked = checkArguments(text, tool.parameters);
    if ('fault' in checked) return {text: checked.fault, isError: true};
    try {
      const result = await tool.run(checked.value, {...context, folder: this.#options.folder});
      return {text: cutMiddle(result), isError: false};
    } catch (error) {
      return {text: cutMiddle(error instanceof Error ? error.message : String(error)), isError: true};
    }
  }
}

export function cutMiddle(text: string, limit = maxResultCharacters): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
