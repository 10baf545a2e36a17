/**
 * What routes and checks see of a request's URL: without the path prefix of a proxy, and with one slash where a base URL
 * that ended in a slash made two. Slashes at the very beginning stay: such a path has no route.
 */

/** `/llm` for `llm/`, `/llm/` and `/llm`; empty for no prefix. */
export function normalizeRootPath(rootPath: string): string {
  const trimmed = rootPath.replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}

/** @param rootPath as `normalizeRootPath` gives it. A path that does not start with it is taken as it is. */
export function normalizeUrl(url: string, rootPath: string): string {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const query = queryStart < 0 ? '' : url.slice(queryStart);
  return withoutPrefix(path.replace(/(?<=[^/])\/{2,}/g, '/'), rootPath) + query;
}

function withoutPrefix(path: string, rootPath: string): string {
  if (path === rootPath) return '/';
  return rootPath !== '' && path.startsWith(`${rootPath}/`) ? path.slice(rootPath.length) : path;
}
