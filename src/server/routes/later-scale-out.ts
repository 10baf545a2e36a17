/** Scale-out routes of the reference that this server does not have yet: switched off they answer like the others. */
import {UnsupportedError} from '../../core/errors.ts';
import type {RouteTable} from '../route-table.ts';
import {addScaleOutRoute} from '../scale-out/scale-out-route.ts';
import type {ServerContext} from '../server-context.ts';

const LATER_ROUTES = ['/v1/messages/render', '/v1/responses/render'];

export function registerLaterScaleOut(routes: RouteTable, context: ServerContext): void {
  for (const url of LATER_ROUTES) {
    const handler = () => {
      throw new UnsupportedError(`\`${url}\` is not supported by this server yet.`);
    };
    addScaleOutRoute(routes, url, handler, context);
  }
}
