/** `/health` and `/ping`: 200 while the engine lives and the server takes requests, else 503; always an empty body. */
import type {RouteTable} from '../route-table.ts';
import {sendEmpty} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerHealth(routes: RouteTable, {llm, isStopping}: ServerContext): void {
  const handler: Parameters<RouteTable['add']>[2] = (_request, reply) =>
    sendEmpty(reply, llm.isAlive() && !isStopping() ? 200 : 503);
  routes.add('GET', '/health', handler);
  routes.add('GET', '/ping', handler);
  routes.add('POST', '/ping', handler);
}
