/**
 * The recorded HTTP traffic of the reference: its lines by group, and one line asked of a running server. What counts as
 * equal is decided by `check.mjs`, which lies beside the data.
 */
import {request as httpRequest, type IncomingMessage} from 'node:http';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {readGoldenLines, sharedFolder} from './shared-data.ts';

export interface GoldenCase {
  name: string;
  group: string;
  flags: string[];
  request: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: unknown;
    rawBody?: string;
    rawBodyBase64?: string;
  };
  response: {status: number; body?: unknown; text?: string; sse?: string[]};
}

/** One set of server flags and the lines recorded with it. */
export interface GoldenGroup {
  name: string;
  flags: string[];
  cases: GoldenCase[];
}

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body?: unknown;
  text?: string;
  sse?: string[];
}

/** @returns what differs; null when the answer is right */
type Compare = (line: GoldenCase, answer: Answer) => string | null;

/** Groups in the order of the file. */
export function readGoldenGroups(): GoldenGroup[] {
  const groups = new Map<string, GoldenGroup>();
  for (const line of readGoldenLines<GoldenCase>('chat-completions.jsonl')) {
    const group = groups.get(line.group) ?? {name: line.group, flags: line.flags, cases: []};
    groups.set(line.group, group);
    group.cases.push(line);
  }
  return [...groups.values()];
}

export async function loadCompare(): Promise<Compare> {
  const {compare} = await import(pathToFileURL(join(sharedFolder, 'golden/check.mjs')).href);
  return compare as Compare;
}

function bodyOf({body, rawBody, rawBodyBase64}: GoldenCase['request']): Buffer | null {
  if (rawBodyBase64 !== undefined) return Buffer.from(rawBodyBase64, 'base64');
  if (rawBody !== undefined) return Buffer.from(rawBody, 'utf8');
  return body === undefined ? null : Buffer.from(JSON.stringify(body), 'utf8');
}

function headersOf({method, headers}: GoldenCase['request'], body: Buffer | null): Record<string, string | number> {
  if (body === null && method !== 'POST') return headers;
  return {...headers, 'content-length': body?.length ?? 0};
}

/** Sends the request exactly as it was recorded, on a connection of its own. */
export function send(baseUrl: string, {request}: GoldenCase): Promise<Answer> {
  const {hostname, port} = new URL(baseUrl);
  const body = bodyOf(request);
  const {method, path} = request;
  return new Promise((resolve, reject) => {
    const sent = httpRequest({hostname, port, path, method, headers: headersOf(request, body), agent: false});
    sent.on('response', (response) => readAnswer(response).then(resolve, reject));
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return {status: response.statusCode as number, headers: response.headers, ...contentOf(response, text)};
}

function contentOf({headers}: IncomingMessage, text: string): Pick<Answer, 'body' | 'text' | 'sse'> {
  const mediaType = headers['content-type']?.split(';')[0].trim().toLowerCase();
  if (mediaType === 'text/event-stream') return {sse: text.split(/\r?\n/).filter((line) => line !== '')};
  if (text === '') return {};
  return mediaType === 'application/json' ? {body: JSON.parse(text)} : {text};
}
