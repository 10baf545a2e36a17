/**
 * `POST /reset_prefix_cache`: requests that come later compute their prompts anew. For developers who measure; only there
 * with `VLLM_SERVER_DEV_MODE=1`, as in the reference.
 */
import type {RouteTable} from '../route-table.ts';
import {sendEmpty} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerResetPrefixCache(routes: RouteTable, {llm}: ServerContext): void {
  routes.add('POST', '/reset_prefix_cache', (_request, reply) => {
    llm.resetPrefixCache();
    return sendEmpty(reply, 200);
  });
}
