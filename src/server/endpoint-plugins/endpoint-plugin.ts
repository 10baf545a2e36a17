/**
 * What a module named by `--plugin` is and what it gets. Handlers speak the web's `Request` and `Response`, so a plugin
 * knows nothing of the HTTP library; docs/plugins.md explains it with an example.
 */
import type {Logger} from '../../core/util/logger.ts';

/** The default export of a plugin module. */
export interface EndpointPlugin {
  /** For logs and errors. */
  name: string;
  /** Adds the routes. Called once, before the server takes requests; what takes long belongs into the module itself. */
  register(server: PluginServer): void;
}

export interface PluginServer {
  /** Version of Parlance. */
  readonly version: string;
  readonly servedModelNames: readonly string[];
  readonly maxModelLen: number;
  readonly logger: Logger;
  /** @throws UsageError when the server has such a route already */
  addRoute(route: PluginRoute): void;
  /**
   * Asks this server itself, without a socket; the answer comes whole. Under `/v1` a key is needed as for everybody.
   * @param path such as `/v1/chat/completions`
   */
  fetch(
    path: string,
    init?: {method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string},
  ): Promise<Response>;
}

export interface PluginRoute {
  method: 'GET' | 'POST';
  /** `/hello`, or with a parameter: `/hello/:name`. */
  path: string;
  /** One line for the API description. */
  summary?: string;
  /** The request's signal is aborted when the client leaves. An error that is thrown becomes an answer with status 500. */
  handler: (request: Request) => Response | Promise<Response>;
}
