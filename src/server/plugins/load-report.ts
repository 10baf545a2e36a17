/**
 * The load of the engine in a header of whole answers, for routers that ask for it with
 * `endpoint-load-metrics-format: text|json` (vllm/entrypoints/serve/utils/orca_metrics.py).
 */
import type {FastifyInstance, FastifyRequest} from 'fastify';
import type {Llm} from '../../core/llm.ts';
import {pythonFloat} from '../../core/protocol/openai/python-repr.ts';
import {EngineLoads} from '../engine-loads.ts';

const REPORTING_PATHS = new Set(['/v1/chat/completions', '/v1/completions', '/invocations']);

interface Load {
  num_requests_waiting: number;
  /** 0..1 */
  kv_cache_usage_perc: number;
}

/** Writers of the two formats. */
const FORMATS: Record<string, (entries: [string, string][]) => string> = {
  text: (entries) => `TEXT ${entries.map(([name, value]) => `named_metrics.${name}=${value}`).join(', ')}`,
  json: (entries) => `JSON {"named_metrics": {${entries.map(([name, value]) => `"${name}": ${value}`).join(', ')}}}`,
};

/** The header's value; null for a format that nobody knows. */
export function loadReport(format: unknown, load: Load): string | null {
  const write = typeof format === 'string' ? FORMATS[format.toLowerCase()] : undefined;
  const entries = Object.entries(load).map(([name, value]): [string, string] => [name, pythonFloat(value)]);
  return write ? write(entries) : null;
}

function isWholeAnswer(request: FastifyRequest, status: number): boolean {
  return status === 200 && REPORTING_PATHS.has(request.url.split('?', 1)[0]);
}

export function registerLoadReport(app: FastifyInstance, llm: Llm): void {
  const loads = new EngineLoads();
  const stopListening = llm.onStats((stats, engineIndex) => loads.note(stats, engineIndex));
  const cacheTokens = llm.modelInfo.kvCacheTokens * llm.engineStates().length;
  app.addHook('onClose', async () => stopListening());
  app.addHook('onSend', async (request, reply) => {
    if (!isWholeAnswer(request, reply.statusCode)) return;
    const {numWaiting, numUsedCacheTokens} = loads.total();
    const report = loadReport(request.headers['endpoint-load-metrics-format'], {
      num_requests_waiting: numWaiting,
      kv_cache_usage_perc: cacheTokens === 0 ? 0 : numUsedCacheTokens / cacheTokens,
    });
    if (report !== null) reply.header('endpoint-load-metrics', report);
  });
}
