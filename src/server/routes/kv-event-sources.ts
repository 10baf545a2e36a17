/** `GET /kv_event_sources`: this server publishes no events of its KV cache. */
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';

export function registerKvEventSources(routes: RouteTable): void {
  routes.add('GET', '/kv_event_sources', (_request, reply) => sendJson(reply, 200, {}));
}
