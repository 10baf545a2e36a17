/** Options that do not go together: the server does not start (vllm/entrypoints/openai/cli_args.py, validate). */
import {UsageError} from '../core/errors.ts';
import type {ServerOptions} from './server-config.ts';

const REFUSALS: {isWrong: (options: ServerOptions) => boolean; message: string}[] = [
  {
    isWrong: ({enableLogOutputs, enableLogRequests}) => enableLogOutputs && !enableLogRequests,
    message: '--enable-log-outputs requires --enable-log-requests',
  },
  {
    isWrong: ({enablePerRequestMetrics, disableLogStats}) => enablePerRequestMetrics && disableLogStats,
    message:
      '--enable-per-request-metrics requires engine statistics logging; remove --disable-log-stats to enable per-request metrics.',
  },
];

/** @throws UsageError */
export function checkServerOptions(options: ServerOptions): void {
  const refusal = REFUSALS.find(({isWrong}) => isWrong(options));
  if (refusal) throw new UsageError(refusal.message);
}
