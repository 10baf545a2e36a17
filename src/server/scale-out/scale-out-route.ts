/** The switch of the scale-out routes: they are always there, and refuse every body unless the server offers them. */
import {PermissionDeniedError} from '../../core/errors.ts';
import {refuseWhenStopping} from '../generation-endpoint.ts';
import type {RouteHandler, RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';

const SWITCHED_OFF_MESSAGE =
  'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.';

export function addScaleOutRoute(routes: RouteTable, url: string, handler: RouteHandler, context: ServerContext): void {
  const {enableScaleOut, tokensOnly} = context.options;
  routes.add('POST', url, (request, reply) => {
    if (!enableScaleOut && !tokensOnly) throw new PermissionDeniedError(SWITCHED_OFF_MESSAGE);
    refuseWhenStopping(context);
    return handler(request, reply);
  });
}
