/**
 * `--enable-log-requests`: one line when a request has been taken, with its lengths, and one when its answer has ended.
 * Texts stand in them with `--enable-log-outputs` only, cut to `--max-log-len` characters.
 */
import type {Generation} from '../core/llm.ts';
import type {ChatEvent} from '../core/parsers/events.ts';
import type {Logger} from '../core/util/logger.ts';
import {tapStream} from '../core/util/tap-stream.ts';
import type {ServerOptions} from './server-config.ts';

export type RequestLogOptions = Pick<ServerOptions, 'enableLogRequests' | 'enableLogOutputs' | 'maxLogLen'>;

type ChatEvents = Generation['events'];

/** Logs the arrival of a request; returns its events, which are logged as they pass. */
export type RequestLog = (id: string, generation: Pick<Generation, 'prompts' | 'events'>) => ChatEvents;

export function createRequestLog(options: RequestLogOptions, logger: Logger): RequestLog {
  if (!options.enableLogRequests) return (_id, {events}) => events;
  return (completionId, {prompts, events}) => {
    const promptTokens = prompts.reduce((sum, {tokenIds}) => sum + tokenIds.length, 0);
    const lengths = {promptTokens, promptCharacters: prompts.reduce((sum, {text}) => sum + text.length, 0)};
    const texts = options.enableLogOutputs ? {prompts: prompts.map(({text}) => cut(text, options.maxLogLen))} : {};
    logger.info(
      {completionId, numPrompts: prompts.length, ...lengths, ...texts},
      `Received request ${completionId}: ${promptTokens} prompt tokens`,
    );
    return watchEvents(completionId, events, options, logger);
  };
}

function cut(text: string, maxCharacters: number | null): string {
  return maxCharacters === null ? text : text.slice(0, maxCharacters);
}

/** What the log says about one choice. */
interface ChoiceSummary {
  finishReason: string | null;
  numTokens: number;
  text: string;
}

function watchEvents(completionId: string, events: ChatEvents, options: RequestLogOptions, logger: Logger): ChatEvents {
  const choices: ChoiceSummary[] = [];
  return tapStream(() => events, {
    onItem: (event) => note((choices[event.choice] ??= {finishReason: null, numTokens: 0, text: ''}), event),
    onEnd: () => logEnd(completionId, choices, options, logger),
  });
}

function note(choice: ChoiceSummary, event: ChatEvent): void {
  if (event.type === 'delta') {
    choice.text += event.text;
    choice.numTokens += event.tokenIds.length;
  }
  if (event.type === 'finish') choice.finishReason = event.finishReason;
}

function logEnd(completionId: string, choices: ChoiceSummary[], options: RequestLogOptions, logger: Logger): void {
  const shown = choices.map(({finishReason, numTokens, text}) => ({
    finishReason,
    numTokens,
    characters: text.length,
    ...(options.enableLogOutputs && {text: cut(text, options.maxLogLen)}),
  }));
  const numTokens = choices.reduce((sum, choice) => sum + choice.numTokens, 0);
  logger.info({completionId, choices: shown}, `Finished request ${completionId}: ${numTokens} tokens`);
}
