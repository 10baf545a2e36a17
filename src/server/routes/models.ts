/** `GET /v1/models`: one card for each served name. Keys and their order are those of vLLM's ModelCard. */
import {randomBytes} from 'node:crypto';
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';

function permission(created: number) {
  return {
    id: `modelperm-${randomBytes(8).toString('hex')}`,
    object: 'model_permission',
    created,
    allow_create_engine: false,
    allow_sampling: true,
    allow_logprobs: true,
    allow_search_indices: false,
    allow_view: true,
    allow_fine_tuning: false,
    organization: '*',
    group: null,
    is_blocking: false,
  };
}

function modelCard(id: string, {modelRoot, llm}: ServerContext) {
  const created = unixSeconds();
  return {
    id,
    object: 'model',
    created,
    owned_by: 'vllm',
    root: modelRoot,
    parent: null,
    max_model_len: llm.modelInfo.maxModelLen,
    permission: [permission(created)],
  };
}

export function registerModels(routes: RouteTable, context: ServerContext): void {
  routes.add('GET', '/v1/models', (_request, reply) => {
    const data = context.servedModelNames.map((name) => modelCard(name, context));
    return sendJson(reply, 200, {object: 'list', data});
  });
}
