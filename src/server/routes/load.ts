/** `GET /load`: requests in progress are counted only with a flag that this server does not have; without it, 0. */
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';

export function registerLoad(routes: RouteTable): void {
  routes.add('GET', '/load', (_request, reply) => sendJson(reply, 200, {server_load: 0}));
}
