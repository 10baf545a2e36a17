/** Options that do not go together: the server does not start (vllm/entrypoints/openai/cli_args.py, validate). */
import {UsageError} from '../core/errors.ts';
import {isReasoningEffort, REASONING_EFFORTS} from '../core/protocol/openai/chat-completion.ts';
import {pythonRepr} from '../core/protocol/openai/python-repr.ts';
import type {ServerOptions} from './server-config.ts';

interface Refusal {
  isWrong: (options: ServerOptions) => boolean;
  message: string | ((options: ServerOptions) => string);
}

function unknownEfforts({reasoningEffortMap}: ServerOptions): string[] {
  return Object.keys(reasoningEffortMap ?? {}).filter((effort) => !isReasoningEffort(effort));
}

const REFUSALS: Refusal[] = [
  {
    isWrong: ({enableAutoToolChoice, toolCallParser}) => enableAutoToolChoice && toolCallParser === null,
    message: '--enable-auto-tool-choice requires --tool-call-parser',
  },
  {
    isWrong: ({enableLogOutputs, enableLogRequests}) => enableLogOutputs && !enableLogRequests,
    message: '--enable-log-outputs requires --enable-log-requests',
  },
  {
    isWrong: ({enablePerRequestMetrics, disableLogStats}) => enablePerRequestMetrics && disableLogStats,
    message:
      '--enable-per-request-metrics requires engine statistics logging; remove --disable-log-stats to enable per-request metrics.',
  },
  {
    isWrong: ({reasoningEffortMap}) =>
      Object.values(reasoningEffortMap ?? {}).some((effort) => typeof effort !== 'string'),
    message: '--reasoning-effort-map must be a JSON object mapping reasoning efforts to strings.',
  },
  {
    isWrong: (options) => unknownEfforts(options).length > 0,
    message: (options) =>
      `--reasoning-effort-map has unknown efforts ${pythonRepr(unknownEfforts(options))}; keys must be one of ${pythonRepr([...REASONING_EFFORTS])}.`,
  },
];

/** @throws UsageError */
export function checkServerOptions(options: ServerOptions): void {
  const refusal = REFUSALS.find(({isWrong}) => isWrong(options));
  if (!refusal) return;
  const {message} = refusal;
  throw new UsageError(typeof message === 'string' ? message : message(options));
}
