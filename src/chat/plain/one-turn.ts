/**
 * One question, one answer, no terminal: the answer goes to stdout as it streams, everything else to stderr. With
 * `--json` stdout holds one object, or one line for each event.
 */
import type {ChatBackend} from '../backend/backend.ts';
import type {AnswerStats} from '../conversation/answer-stats.ts';
import type {AssistantMessage, TalkMessage, ToolCall} from '../conversation/messages.ts';
import {runTurn, type TurnEvent} from '../conversation/run-turn.ts';
import type {TalkSettings} from '../conversation/settings.ts';
import {statsLine} from '../format-stats.ts';
import type {ChatOptions} from '../options.ts';
import {withoutControls} from '../safe-text.ts';
import type {ToolBox} from '../tools/tool-box.ts';
import type {PlainOutput} from './plain-output.ts';

export interface OneTurn {
  backend: ChatBackend;
  settings: TalkSettings;
  tools: ToolBox;
  talk: TalkMessage[];
  options: Pick<ChatOptions, 'stream' | 'reasoning' | 'stats' | 'maxToolRounds'> & {json: boolean};
  signal: AbortSignal;
}

/** What the whole turn came to. */
interface TurnSum {
  message: AssistantMessage | null;
  finishReason: string | null;
  stats: AnswerStats | null;
  wasRefused: boolean;
}

/** @returns the exit code @throws the error that ended the turn */
export async function answerOnce(turn: OneTurn, output: PlainOutput): Promise<number> {
  const {modelName} = await turn.backend.ready();
  const sum: TurnSum = {message: null, finishReason: null, stats: null, wasRefused: false};
  const printer = new PlainPrinter(turn.options, output);
  const approve = async (call: ToolCall) => {
    sum.wasRefused = true;
    // Whoever asked has to know what was wanted.
    if (!turn.options.json) output.write(`${withoutControls(callText(call))}\n`);
    return {type: 'no', reason: 'calls run only with --tool-approval auto here'} as const;
  };
  const {backend, settings, tools, talk, options, signal} = turn;
  const parts = {backend, settings, tools, approve, maxRounds: options.maxToolRounds, retries: 0, signal};
  for await (const event of runTurn(talk, parts)) {
    note(event, sum);
    if (event.type === 'turn-end' && event.error) throw event.error;
    printer.print(event);
    if (sum.wasRefused) break;
  }
  if (options.json && !options.stream) output.write(`${JSON.stringify(resultObject(modelName, sum))}\n`);
  if (sum.wasRefused || signal.aborted || sum.message === null) return 1;
  return 0;
}

function note(event: TurnEvent, sum: TurnSum): void {
  if (event.type !== 'answer-end') return;
  sum.message = event.message;
  sum.finishReason = event.finishReason;
  sum.stats = event.stats;
}

function resultObject(model: string, {message, finishReason, stats}: TurnSum): object {
  const prompt_tokens = stats?.promptTokens ?? null;
  const completion_tokens = stats?.completionTokens ?? 0;
  return {
    model,
    message,
    usage: {prompt_tokens, completion_tokens, total_tokens: (prompt_tokens ?? 0) + completion_tokens},
    finish_reason: finishReason,
    stats: {
      ttft_ms: stats?.timeToFirstTokenMs ?? null,
      tokens_per_second: stats?.tokensPerSecond ?? null,
      tps: stats?.tokensPerSecondOverall ?? null,
      total_ms: stats?.totalMs ?? null,
    },
  };
}

/** Events as text on the two streams. */
export class PlainPrinter {
  readonly #options: OneTurn['options'];
  readonly #output: PlainOutput;
  /** Of the answer, for the newline at its end. */
  #lastCharacter = '\n';
  #lastThought = '\n';

  constructor(options: OneTurn['options'], output: PlainOutput) {
    this.#options = options;
    this.#output = output;
  }

  print(event: TurnEvent): void {
    if (this.#options.json) {
      if (this.#options.stream) this.#output.write(`${JSON.stringify(event)}\n`);
      return;
    }
    this.#printText(event);
  }

  #printText(event: TurnEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#endThought();
        this.#output.write(withoutControls(event.text));
        if (event.text !== '') this.#lastCharacter = event.text.at(-1)!;
        return;
      case 'reasoning-delta':
        if (this.#options.reasoning === 'show') this.#printThought(event.text);
        return;
      case 'answer-end':
        return this.#endAnswer(event);
      case 'tool-start':
        return this.#output.writeError(`[${withoutControls(callText(event.call))}]\n`);
      case 'tool-end':
        return this.#output.writeError(
          `[${event.result.isError ? 'failed' : 'result'}] ${withoutControls(event.result.text)}\n`,
        );
      case 'retry':
        return this.#output.writeError(`${event.reason}; trying again in ${event.seconds} s\n`);
      case 'turn-end':
        if (event.outcome === 'too-many-rounds') this.#output.writeError('Stopped: too many rounds of tools\n');
        return;
      default:
    }
  }

  #printThought(text: string): void {
    this.#output.writeError(withoutControls(text));
    if (text !== '') this.#lastThought = text.at(-1)!;
  }

  #endThought(): void {
    if (this.#lastThought !== '\n') this.#output.writeError('\n');
    this.#lastThought = '\n';
  }

  #endAnswer({stats}: Extract<TurnEvent, {type: 'answer-end'}>): void {
    this.#endThought();
    if (this.#lastCharacter !== '\n') this.#output.write('\n');
    this.#lastCharacter = '\n';
    if (this.#options.stats) this.#output.writeError(`${statsLine(stats)}\n`);
  }
}

function callText({function: {name, arguments: text}}: ToolCall): string {
  return `${name}(${text})`;
}
