/**
 * Where the Hub is, where its cache lies and who asks: from options and the environment variables that all tools of
 * Hugging Face share (`HF_ENDPOINT`, `HF_HUB_CACHE`, `HF_HOME`, `HF_TOKEN_PATH`, `HF_HUB_OFFLINE`).
 */
import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import type {ModelSourceOptions} from '../../config/model-source-options.ts';
import {ModelError} from '../../errors.ts';

export interface HubSettings {
  /** Address without a slash at the end. */
  endpoint: string;
  cacheFolder: string;
  /** Null = nobody in particular. */
  token: string | null;
  isOffline: boolean;
  /** Longest silence of a connection. */
  timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultEndpoint = 'https://huggingface.co';
const defaultTimeoutSeconds = 10;
const yes = new Set(['1', 'on', 'yes', 'true']);

/** @throws ModelError when the address of a mirror is none */
export function readHubSettings(
  {hfToken, downloadDir}: Pick<ModelSourceOptions, 'hfToken' | 'downloadDir'>,
  env: Environment = process.env,
): HubSettings {
  const seconds = Number(env.HF_HUB_DOWNLOAD_TIMEOUT || defaultTimeoutSeconds);
  return {
    endpoint: readEndpoint(env.HF_ENDPOINT || defaultEndpoint),
    cacheFolder: hubCacheFolder(downloadDir, env),
    token: hfToken || storedToken(env),
    isOffline: isYes(env.HF_HUB_OFFLINE) || isYes(env.TRANSFORMERS_OFFLINE),
    timeoutMs: (seconds > 0 ? seconds : defaultTimeoutSeconds) * 1000,
  };
}

/** @param chosen as given with `--download-dir`; null = by the environment */
export function hubCacheFolder(chosen: string | null, env: Environment = process.env): string {
  const folder = chosen || env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(hubHome(env), 'hub');
  return resolve(inHome(folder));
}

function hubHome(env: Environment): string {
  return env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
}

function storedToken(env: Environment): string | null {
  if (env.HF_HUB_DISABLE_IMPLICIT_TOKEN && isYes(env.HF_HUB_DISABLE_IMPLICIT_TOKEN)) return null;
  const named = env.HF_TOKEN || env.HUGGING_FACE_HUB_TOKEN;
  if (named) return named;
  try {
    return readFileSync(inHome(env.HF_TOKEN_PATH || join(hubHome(env), 'token')), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function readEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new ModelError(`HF_ENDPOINT must be an address that begins with https:// or http://, not "${text}".`);
}

function inHome(path: string): string {
  return path.startsWith('~') ? join(homedir(), path.slice(1)) : path;
}

function isYes(value: string | undefined): boolean {
  return yes.has((value ?? '').toLowerCase());
}
