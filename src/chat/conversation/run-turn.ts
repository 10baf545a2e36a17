/**
 * One turn: the question goes out, answers come in, tools are run and their results go back, until the model has said
 * what it wants to say. Everything that happens is told as an event; the messages of the turn come with the events that
 * complete them, so a turn that is stopped keeps what it has.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {type ChatBackend, ConnectionLostError} from '../backend/backend.ts';
import type {ToolResult} from '../tools/tool.ts';
import type {ToolBox} from '../tools/tool-box.ts';
import {type AnswerEvent, type AnswerPiece, addPiece, emptyAnswer, toMessage} from './answer-event.ts';
import {AnswerClock, type AnswerStats} from './answer-stats.ts';
import type {AssistantMessage, TalkMessage, ToolCall} from './messages.ts';
import {requestBody, type TalkSettings} from './settings.ts';

export type TurnEvent =
  | {type: 'round-start'; round: number}
  | AnswerPiece
  | {type: 'retry'; attempt: number; attempts: number; seconds: number; reason: string}
  | {type: 'answer-end'; message: AssistantMessage; finishReason: string; stats: AnswerStats}
  | {type: 'tool-start'; call: ToolCall}
  | {type: 'tool-end'; call: ToolCall; result: ToolResult}
  | {type: 'turn-end'; outcome: 'done' | 'stopped' | 'error' | 'too-many-rounds'; error: Error | null};

/** What a person says to a call. */
export type Approval =
  | {type: 'once'}
  | {type: 'always'}
  | {type: 'edit'; argumentsText: string}
  | {type: 'no'; reason: string};

/** @param canAllow whether the person may say `always` */
export type Approve = (call: ToolCall, asked: {signal: AbortSignal; canAllow: boolean}) => Promise<Approval>;

export interface TurnParts {
  backend: ChatBackend;
  settings: TalkSettings;
  tools: ToolBox;
  /** Asked for each call that is not allowed already. */
  approve: Approve;
  maxRounds: number;
  /** How often a connection that failed before the first output is tried again. */
  retries: number;
  signal: AbortSignal;
  /** Gets what running tools say about how far they are. */
  report?: (line: string) => void;
}

/** @param talk up to the question; the turn's messages are appended to it */
export async function* runTurn(talk: TalkMessage[], parts: TurnParts): AsyncGenerator<TurnEvent, void, undefined> {
  const {signal, maxRounds} = parts;
  try {
    for (let round = 1; ; round++) {
      yield {type: 'round-start', round};
      const answer = yield* runRound(talk, round === 1 ? parts : {...parts, settings: withFreeChoice(parts.settings)});
      if (signal.aborted) return yield {type: 'turn-end', outcome: 'stopped', error: null};
      const calls = answer?.tool_calls ?? [];
      if (calls.length === 0) return yield {type: 'turn-end', outcome: 'done', error: null};
      yield* runTools(calls, talk, parts);
      if (signal.aborted) return yield {type: 'turn-end', outcome: 'stopped', error: null};
      if (round >= maxRounds) return yield {type: 'turn-end', outcome: 'too-many-rounds', error: null};
    }
  } catch (error) {
    yield {type: 'turn-end', outcome: 'error', error: error instanceof Error ? error : new Error(String(error))};
  }
}

/** A call that the person demanded is made once; what comes of it is said in free words. */
function withFreeChoice(settings: TalkSettings): TalkSettings {
  const {tool_choice: choice, ...fields} = settings.fields;
  const isDemanded = choice === 'required' || typeof choice === 'object';
  return isDemanded ? {...settings, fields: {...fields, tool_choice: 'auto'}} : settings;
}

/** One answer of the model. What came before an end by force is kept, calls that were cut are not. */
async function* runRound(
  talk: TalkMessage[],
  parts: TurnParts,
): AsyncGenerator<TurnEvent, AssistantMessage | null, undefined> {
  const {settings, tools, signal} = parts;
  const body = requestBody(talk, settings, tools.definitions());
  const clock = new AnswerClock();
  let answer = emptyAnswer;
  let finishReason: string | null = null;
  try {
    for await (const event of withRetries(() => parts.backend.answer(body, {signal}), parts)) {
      if (event.type === 'retry') {
        yield event;
        continue;
      }
      clock.note(event);
      if (event.type === 'finish') finishReason = event.finishReason;
      else {
        answer = addPiece(answer, event);
        yield event;
      }
    }
  } catch (error) {
    if (answer !== emptyAnswer) yield endOf({...answer, calls: []}, 'error');
    throw error;
  }
  if (finishReason === null || signal.aborted) {
    yield endOf({...answer, calls: []}, 'abort');
    return null;
  }
  return yield* finish();

  async function* finish(): AsyncGenerator<TurnEvent, AssistantMessage, undefined> {
    const end = endOf(answer, finishReason!);
    yield end;
    return end.message;
  }

  function endOf(whole: typeof answer, reason: string): Extract<TurnEvent, {type: 'answer-end'}> {
    const message = toMessage(whole);
    if (message.content !== '' || message.reasoning || message.tool_calls) talk.push(message);
    return {type: 'answer-end', message, finishReason: reason, stats: clock.stats()};
  }
}

type Retry = Extract<TurnEvent, {type: 'retry'}>;

/** Half an answer is never asked for again. */
async function* withRetries(
  ask: () => AsyncGenerator<AnswerEvent, void, undefined>,
  {retries, signal}: TurnParts,
): AsyncGenerator<AnswerEvent | Retry, void, undefined> {
  for (let attempt = 1; ; attempt++) {
    let hasBegun = false;
    try {
      for await (const event of ask()) {
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || hasBegun || attempt > retries || signal.aborted) throw error;
      const seconds = Math.min(2 ** (attempt - 1), 10);
      yield {type: 'retry', attempt, attempts: retries, seconds, reason: error.message};
      await delay(seconds * 1000, undefined, {signal}).catch(() => {});
      if (signal.aborted) return;
    }
  }
}

/**
 * Every call gets a result, also one that was refused or stopped, because the API wants it so. Calls that nobody has to
 * be asked for run side by side; else one after the other, in order.
 */
async function* runTools(
  calls: readonly ToolCall[],
  talk: TalkMessage[],
  parts: TurnParts,
): AsyncGenerator<TurnEvent, void, undefined> {
  const asks = calls.some((call) => parts.tools.verdict(call).type === 'ask');
  for (const group of asks ? calls.map((call) => [call]) : [calls]) yield* runGroup(group, talk, parts);
}

async function* runGroup(
  calls: readonly ToolCall[],
  talk: TalkMessage[],
  parts: TurnParts,
): AsyncGenerator<TurnEvent, void, undefined> {
  const running: {call: ToolCall; result: Promise<ToolResult> | ToolResult}[] = [];
  for (const asked of calls) {
    const {call, refusal} = await decide(asked, parts);
    if (refusal === null) yield {type: 'tool-start', call};
    running.push({call, result: refusal ?? runTool(call, parts)});
  }
  for (const {call, result: pending} of running) {
    const result = await pending;
    talk.push({role: 'tool', tool_call_id: call.id, content: result.text});
    yield {type: 'tool-end', call, result};
  }
}

/** A tool that does not care about being stopped is left to itself. */
function runTool(call: ToolCall, {tools, signal, report = () => {}}: TurnParts): Promise<ToolResult> {
  const stopped = new Promise<ToolResult>((resolve) => {
    const stop = () => resolve({text: 'The person stopped this call.', isError: true});
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, {once: true});
  });
  return Promise.race([tools.run(call, {signal, report}), stopped]);
}

async function decide(call: ToolCall, parts: TurnParts): Promise<{call: ToolCall; refusal: ToolResult | null}> {
  const {tools, signal, approve} = parts;
  if (signal.aborted) return {call, refusal: {text: 'The person stopped the turn before this call.', isError: true}};
  const verdict = tools.verdict(call);
  if (verdict.type === 'fault') return {call, refusal: {text: verdict.text, isError: true}};
  if (verdict.type === 'allowed') return {call, refusal: null};
  const approval = await approve(call, {signal, canAllow: verdict.canAllow});
  switch (approval.type) {
    case 'no':
      return {call, refusal: {text: refusalText(approval.reason), isError: true}};
    case 'edit':
      return decideEdited({...call, function: {...call.function, arguments: approval.argumentsText}}, tools);
    case 'always':
      tools.allow(call.function.name);
      return {call, refusal: null};
    case 'once':
      return {call, refusal: null};
  }
}

function decideEdited(call: ToolCall, tools: ToolBox): {call: ToolCall; refusal: ToolResult | null} {
  const verdict = tools.verdict(call);
  return {call, refusal: verdict.type === 'fault' ? {text: verdict.text, isError: true} : null};
}

function refusalText(reason: string): string {
  return reason === '' ? 'The person refused this call.' : `The person refused this call: ${reason}`;
}
