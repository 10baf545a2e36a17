/** What a server reads answers with, by the names of its two flags; for tests over a scripted engine. */
import type {AnswerFormats} from '../../src/core/answer-reader.ts';
import {type AnswerOptions, type FormatSources, loadAnswerFormats} from '../../src/core/load-answer-formats.ts';
import {silentLogger} from '../../src/core/util/logger.ts';

/** Null when neither is given. */
export function answerFormats(
  toolCallParser: string | null,
  reasoningParser: string | null,
  options: Partial<AnswerOptions> = {},
  sources: Partial<FormatSources> = {},
): Promise<AnswerFormats | null> {
  return loadAnswerFormats(
    {
      enableAutoToolChoice: toolCallParser !== null,
      toolCallParser,
      toolParserPlugin: null,
      reasoningParser,
      reasoningParserPlugin: null,
      stopSparesReasoning: false,
      toolStrictLevel: null,
      enforcesStrictToolCalling: true,
      ...options,
    },
    {template: null, responseTemplate: undefined, logger: silentLogger, ...sources},
  );
}
