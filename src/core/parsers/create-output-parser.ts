/**
 * Puts a tool format and a reasoning format together for one choice. Reasoning is read first, tools on what it leaves;
 * formats of one family (channels of messages) run as one machine. What a request may not have (no tools, `none`,
 * `required` as JSON) is decided here, so that formats only describe text.
 */

import type {FinishReason} from './events.ts';
import {forcedCallsMachine} from './forced-calls.ts';
import type {MachineDefinition, ReasoningFormat, ToolFormat} from './format.ts';
import {FormatMachine} from './machine/format-machine.ts';
import type {ParseSink} from './machine/parse-sink.ts';
import {PieceAssembler} from './machine/piece-assembler.ts';
import type {OutputParser, ParserContext} from './output-parser.ts';
import type {ParsedPiece} from './parsed-piece.ts';

export interface OutputFormats {
  tool?: ToolFormat;
  reasoning?: ReasoningFormat;
  /** Told once when a parser of ours fails; the rest of the choice is plain text then. */
  onFault?: (error: unknown) => void;
}

export function createOutputParser(formats: OutputFormats, context: ParserContext): OutputParser {
  const assembler = new PieceAssembler(context, {
    ids: formats.tool?.ids ?? 'default',
    keepsCalls: mayCall(context) || keepsForbiddenCalls(formats, context),
    holdsBlanks: formats.tool !== undefined && mayCall(context),
  });
  const machines = buildMachines(formats, context, assembler);
  return new MachineOutputParser(machines, assembler, formats.onFault);
}

/** Calls are kept for `required`, a named function, and `auto` with tools. */
export function mayCall(context: ParserContext): boolean {
  return context.toolChoice !== 'none' && (context.tools.length > 0 || context.toolChoice !== 'auto');
}

function keepsForbiddenCalls({tool}: OutputFormats, context: ParserContext): boolean {
  return tool?.whenNone === 'read' && context.keepsForbiddenCalls === true;
}

/** The machines of a choice, the first one gets the text; each hands its content to the next. */
function buildMachines(formats: OutputFormats, context: ParserContext, assembler: PieceAssembler): FormatMachine[] {
  const [first, second] = parserMachines(formats, context);
  const last = second && new FormatMachine(second, context, assembler);
  const machines = [first && new FormatMachine(first, context, contentInto(last, assembler)), last];
  return machines.filter((machine) => machine !== undefined);
}

/** The definitions behind a parser, at most two. */
export function parserMachines(formats: OutputFormats, context: ParserContext): MachineDefinition[] {
  const {tool, reasoning} = formats;
  const isFamily = tool?.family !== undefined && tool.family === reasoning?.family;
  if (tool !== undefined && isFamily && !usesForcedJson(tool, context)) {
    return [tool.machine(context, {reasoning: true, tools: true})];
  }
  const parts = {reasoning: true, tools: tool !== undefined && mayCall(context)};
  return [reasoning?.machine(context, parts), toolDefinition(formats, context)].filter(
    (definition) => definition !== undefined,
  );
}

function toolDefinition({tool, reasoning}: OutputFormats, context: ParserContext): MachineDefinition | undefined {
  if (tool === undefined) return undefined;
  const leavesMarkup = tool.whenNone === 'raw' || reasoning?.leavesForbiddenCalls === true;
  if (!mayCall(context) && leavesMarkup) return undefined;
  if (usesForcedJson(tool, context)) return forcedCallsMachine(context);
  return tool.machine(context, {reasoning: false, tools: true});
}

function usesForcedJson(tool: ToolFormat, context: ParserContext): boolean {
  return tool.forcedCalls === 'json' && context.toolChoice !== 'auto' && context.toolChoice !== 'none';
}

/** A sink that sends the content on to the next machine. */
function contentInto(next: FormatMachine | undefined, assembler: PieceAssembler): ParseSink {
  if (next === undefined) return assembler;
  return {
    content: (text) => next.push(text),
    reasoning: (text) => assembler.reasoning(text),
    callStart: (name, id) => assembler.callStart(name, id),
    callArguments: (json) => assembler.callArguments(json),
    callEnd: () => assembler.callEnd(),
  };
}

/** Runs machines one into the next; a fault ends them and the text goes on as content. */
class MachineOutputParser implements OutputParser {
  #machines: readonly FormatMachine[];
  readonly #assembler: PieceAssembler;
  readonly #onFault: ((error: unknown) => void) | undefined;

  constructor(machines: readonly FormatMachine[], assembler: PieceAssembler, onFault?: (error: unknown) => void) {
    this.#machines = machines;
    this.#assembler = assembler;
    this.#onFault = onFault;
  }

  get isReasoning(): boolean {
    return this.#machines[0]?.isReasoning ?? false;
  }

  push(text: string): ParsedPiece[] {
    this.#guard(() => {
      const first = this.#machines[0];
      if (first === undefined) this.#assembler.content(text);
      else if (text !== '') first.push(text);
    });
    return this.#assembler.takePieces();
  }

  finish(finishReason: FinishReason = 'stop'): ParsedPiece[] {
    this.#guard(() => {
      for (const machine of this.#machines) machine.finish(finishReason);
    });
    this.#assembler.end();
    return this.#assembler.takePieces();
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onFault?.(error);
      const unread = this.#machines.toReversed().map((machine) => machine.takeUnread());
      this.#machines = [];
      this.#assembler.content(unread.join(''));
    }
  }
}
