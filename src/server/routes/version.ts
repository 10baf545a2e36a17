/** `GET /version`. */
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerVersion(routes: RouteTable, {version}: ServerContext): void {
  routes.add('GET', '/version', (_request, reply) => sendJson(reply, 200, {version}));
}
