/**
 * Registers routes and remembers which methods a path has, for the answers to wrong methods and to a slash too much.
 */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';

export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | unknown;
type Method = 'GET' | 'POST';

export class RouteTable {
  readonly #app: FastifyInstance;
  readonly #methods = new Map<string, Method[]>();

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  add(method: Method, url: string, handler: RouteHandler): void {
    this.#methods.set(url, [...this.methodsOf(url), method]);
    this.#app.route({method, url, handler: async (request, reply) => handler(request, reply)});
  }

  /** Methods of a path, in the order in which they were added; none for an unknown path. */
  methodsOf(path: string): Method[] {
    return this.#methods.get(path) ?? [];
  }

  /** `GET /health`, one text for each route. */
  list(): string[] {
    return [...this.#methods].flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`));
  }
}
