/**
 * Registers routes and remembers which methods a path has, for the answers to wrong methods and to a slash too much.
 */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';

export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | unknown;
export type Method = 'GET' | 'POST';

export interface RouteEntry {
  method: Method;
  path: string;
  /** One line for the API description; null when it has its own. */
  summary: string | null;
}

export class RouteTable {
  readonly #app: FastifyInstance;
  readonly #methods = new Map<string, Method[]>();
  readonly #entries: RouteEntry[] = [];

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** @param summary for routes that the API description does not know */
  add(method: Method, url: string, handler: RouteHandler, {summary = null}: {summary?: string | null} = {}): void {
    this.#methods.set(url, [...this.methodsOf(url), method]);
    this.#entries.push({method, path: url, summary});
    this.#app.route({method, url, handler: async (request, reply) => handler(request, reply)});
  }

  /** Methods of a path, in the order in which they were added; none for an unknown path. */
  methodsOf(path: string): Method[] {
    return this.#methods.get(path) ?? [];
  }

  /** All routes, in the order in which they were added. */
  entries(): readonly RouteEntry[] {
    return this.#entries;
  }
}
