/**
 * What routes and checks see of a request's URL: without the path prefix of a proxy, with one slash where a base URL that
 * ended in a slash made two, and with plain letters where they were escaped, so that no spelling of a guarded path is
 * open. Slashes at the very beginning stay: such a path has no route.
 */

/** `/llm` for `llm/`, `/llm/` and `/llm`; empty for no prefix. */
export function normalizeRootPath(rootPath: string): string {
  const trimmed = rootPath.replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}

/** @param rootPath as `normalizeRootPath` gives it. A path that does not start with it is taken as it is. */
export function normalizeUrl(given: string, rootPath: string): string {
  const url = withoutOrigin(given);
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const query = queryStart < 0 ? '' : url.slice(queryStart);
  return withoutPrefix(withoutNeedlessEscapes(path).replace(/(?<=[^/])\/{2,}/g, '/'), rootPath) + query;
}

/** `/v1` for `/%761`: letters, digits and `-._~` mean the same either way (RFC 3986, 6.2.2.2). */
function withoutNeedlessEscapes(path: string): string {
  return path.replace(/%[\da-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  });
}

/** The path and the query of a target that names its server too, as clients write it for a proxy. */
export function withoutOrigin(target: string): string {
  const [, rest] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? [null, target];
  return rest.startsWith('/') ? rest : `/${rest}`.replace(/^\/\*$/, '*');
}

function withoutPrefix(path: string, rootPath: string): string {
  if (path === rootPath) return '/';
  return rootPath !== '' && path.startsWith(`${rootPath}/`) ? path.slice(rootPath.length) : path;
}
