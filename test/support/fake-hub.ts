/**
 * A local HTTP server that behaves like the Hugging Face Hub as far as downloads go: revisions, paged listings, `resolve`
 * with a redirect of large files to another host that knows ranges and no tokens, errors with their codes. What goes wrong
 * is scripted.
 */
import {createHash} from 'node:crypto';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';

export interface FakeRepo {
  /** By path. */
  files: Record<string, string | Uint8Array>;
  commit?: string;
  /** Branches and tags besides `main`. */
  refs?: string[];
  access?: 'open' | 'gated' | 'private';
}

export interface FakeHub {
  url: string;
  repos: Map<string, FakeRepo>;
  /** `METHOD path [range]` of everything that was asked, both hosts. */
  requests: string[];
  faults: {
    /** Answers with this status so many times before it behaves. */
    unavailable: {status: number; times: number};
    /** Cuts bodies of large files off after so many bytes, so many times. */
    cut: {afterBytes: number; times: number};
    /** Changes a byte of large files, so many times. */
    damage: {times: number};
    /** Sends the whole file whatever range is asked for. */
    ignoresRange: boolean;
    /** Waits before each part of a large file. */
    slowMs: number;
  };
  close(): Promise<void>;
}

export const goodToken = 'hf_good';
export const defaultCommit = 'a'.repeat(40);
/** Larger files are kept elsewhere, as with Git LFS. */
const largeFromBytes = 1000;
const filesPerPage = 3;

interface StoredFile {
  path: string;
  content: Buffer;
  isLarge: boolean;
  hash: string;
}

export async function startFakeHub(repos: Record<string, FakeRepo>): Promise<FakeHub> {
  const requests: string[] = [];
  const hub: FakeHub = {
    url: '',
    repos: new Map(Object.entries(repos)),
    requests,
    faults: {
      unavailable: {status: 503, times: 0},
      cut: {afterBytes: 0, times: 0},
      damage: {times: 0},
      ignoresRange: false,
      slowMs: 0,
    },
    close: async () => {
      await Promise.all([stop(storage.server), stop(front.server)]);
    },
  };
  const note = ({method, url, headers}: IncomingMessage) =>
    requests.push([method, url, headers.range].filter(Boolean).join(' '));
  const storage = await listen((request, response) => {
    note(request);
    sendLarge(hub, request, response);
  });
  const front = await listen((request, response) => {
    note(request);
    answer(hub, storage.url, request, response);
  });
  hub.url = front.url;
  return hub;
}

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`};
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function answer(hub: FakeHub, storageUrl: string, request: IncomingMessage, response: ServerResponse): void {
  const {unavailable} = hub.faults;
  if (unavailable.times > 0) {
    unavailable.times--;
    return sendError(response, unavailable.status, null, 'not now', {'retry-after': '0'});
  }
  const url = new URL(request.url ?? '/', hub.url);
  const [, api, resolve] = [
    null,
    /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/(.+)$/.exec(url.pathname),
    /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(url.pathname),
  ];
  const [, name = '', ...rest] = api ?? resolve ?? [];
  const repo = hub.repos.get(name);
  const hasToken = request.headers.authorization === `Bearer ${goodToken}`;
  if (!repo || (repo.access === 'private' && !hasToken)) {
    return sendError(response, hasToken ? 404 : 401, 'RepoNotFound', 'Repository not found');
  }
  if (repo.access === 'gated' && !hasToken) {
    return sendError(
      response,
      request.headers.authorization ? 403 : 401,
      'GatedRepo',
      `Access to ${name} is restricted.`,
    );
  }
  const commit = repo.commit ?? defaultCommit;
  const revision = decodeURIComponent((api ? rest[1] : rest[0]) ?? '');
  if (![commit, 'main', 'HEAD', ...(repo.refs ?? [])].includes(revision)) {
    return sendError(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
  }
  if (api && rest[0] === 'revision')
    return sendJson(response, {_id: 'x', id: name, sha: commit, lastModified: '2026-01-01'});
  if (api) return sendTree(hub, response, repo, url);
  sendFile(storageUrl, request, response, repo, decodeURIComponent(rest[1] ?? ''), commit);
}

function stored({files}: FakeRepo): StoredFile[] {
  return Object.entries(files).map(([path, given]) => {
    const content = Buffer.from(given as Uint8Array);
    const isLarge = content.length >= largeFromBytes;
    const hash = isLarge
      ? createHash('sha256').update(content).digest('hex')
      : createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
    return {path, content, isLarge, hash};
  });
}

function sendTree(hub: FakeHub, response: ServerResponse, repo: FakeRepo, url: URL): void {
  const all = stored(repo);
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const page = all.slice(from, from + filesPerPage).map(({path, content, isLarge, hash}) => ({
    type: 'file',
    path,
    size: content.length,
    oid: isLarge ? 'f'.repeat(40) : hash,
    ...(isLarge && {lfs: {oid: hash, size: content.length, pointerSize: 134}}),
  }));
  const next = new URL(url);
  next.searchParams.set('cursor', String(from + filesPerPage));
  const hasMore = from + filesPerPage < all.length;
  if (hasMore) response.setHeader('link', `<${new URL(next.pathname + next.search, hub.url)}>; rel="next"`);
  sendJson(response, page);
}

function sendFile(
  storageUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  repo: FakeRepo,
  path: string,
  commit: string,
): void {
  const file = stored(repo).find((candidate) => candidate.path === path);
  if (!file) return sendError(response, 404, 'EntryNotFound', 'Entry not found');
  response.setHeader('x-repo-commit', commit);
  if (!file.isLarge) {
    response.setHeader('etag', `"${file.hash}"`);
    response.end(request.method === 'HEAD' ? '' : file.content);
    return;
  }
  response.setHeader('x-linked-etag', `"${file.hash}"`);
  response.setHeader('x-linked-size', file.content.length);
  response.writeHead(302, {location: `${storageUrl}/${file.hash}?signature=1`});
  response.end();
}

async function sendLarge(hub: FakeHub, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A token for the Hub must not reach the storage.
  if (request.headers.authorization) return sendError(response, 400, null, 'Only one auth mechanism allowed');
  const hash = new URL(request.url ?? '/', hub.url).pathname.slice(1);
  const file = [...hub.repos.values()].flatMap(stored).find((candidate) => candidate.hash === hash);
  if (!file) return sendError(response, 404, null, 'No such key');
  const {cut, damage, ignoresRange, slowMs} = hub.faults;
  const asked = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const start = ignoresRange ? 0 : asked;
  const body = Buffer.from(file.content.subarray(start));
  if (damage.times > 0) {
    damage.times--;
    body.writeUInt8(body.readUInt8(0) ^ 255, 0);
  }
  const range = `bytes ${start}-${file.content.length - 1}/${file.content.length}`;
  response.writeHead(start > 0 ? 206 : 200, {
    'content-length': body.length,
    ...(start > 0 && {'content-range': range}),
  });
  if (cut.times > 0 && body.length > cut.afterBytes) {
    cut.times--;
    response.write(body.subarray(0, cut.afterBytes), () => setTimeout(() => response.destroy(), 50));
    return;
  }
  if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
  response.end(body);
}

function sendJson(response: ServerResponse, content: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(content));
}

function sendError(
  response: ServerResponse,
  status: number,
  code: string | null,
  error: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(code !== null && {'x-error-code': code}),
    ...headers,
  });
  response.end(JSON.stringify({error}));
}
