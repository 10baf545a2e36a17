/** `GET /load`: requests in progress, counted with `--enable-server-load-tracking` only; without it, 0. */
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';

export function registerLoad(routes: RouteTable, numRequestsInProgress: () => number): void {
  routes.add('GET', '/load', (_request, reply) => sendJson(reply, 200, {server_load: numRequestsInProgress()}));
}
