/** Finds out what is measured: address, endpoint, model, longest context, version of the server. */
import {setTimeout as delay} from 'node:timers/promises';
import * as z from 'zod';
import {ServingError, UsageError} from '../../core/errors.ts';
import type {BenchSettings} from '../bench-settings.ts';
import {statusHint} from './fault-hints.ts';
import {type HttpClient, jsonOf} from './http-client.ts';

export interface Target {
  baseUrl: string;
  /** Path of the measured endpoint. */
  endpoint: string;
  /** Whole address of it. */
  url: string;
  /** As requests name the model. */
  model: string;
  /** As results name it. */
  modelId: string;
  /** Names of its models; null when the server has no such list. */
  listedModels: string[] | null;
  maxModelLen: number | null;
  serverVersion: string | null;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({id: z.string(), max_model_len: z.number().nullish()})).min(1),
});
const versionSchema = z.looseObject({version: z.string()});

const endpoints: Readonly<Record<BenchSettings['backend'], string>> = {
  'openai-chat': '/v1/chat/completions',
  openai: '/v1/completions',
  vllm: '/v1/completions',
  http: '/v1/chat/completions',
};

const msBetweenLooks = 250;

/** The address as far as it was given; null when nothing was. */
export function givenBaseUrl({baseUrl, host, port}: Pick<BenchSettings, 'baseUrl' | 'host' | 'port'>): string | null {
  if (baseUrl !== null) return withoutVersion(baseUrl);
  if (host === null && port === null) return null;
  const name = host?.includes(':') && !host.startsWith('[') ? `[${host}]` : (host ?? '127.0.0.1');
  return `http://${name}:${port ?? 8000}`;
}

/** `http://host/v1` and `http://host` are the same server: endpoints bring the version, also where one was given whole. */
function withoutVersion(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1(?:\/(?:chat\/)?completions)?$/, '');
}

/**
 * @throws ServingError when nothing answers, or nothing says which model to name
 * @throws UsageError when the server says that its context is shorter than the asked lengths
 */
export async function findTarget(settings: BenchSettings, client: HttpClient): Promise<Target> {
  if (settings.readyCheckTimeoutSec > 0) await waitUntilReady(client, settings.readyCheckTimeoutSec);
  const models = await listModels(client);
  const endpoint = settings.endpoint ?? endpoints[settings.backend];
  const needsModel = settings.backend !== 'http' || endpoint.includes('completions');
  const found = models?.find(({id}) => id === settings.model) ?? models?.[0];
  const model = settings.servedModelName ?? settings.model ?? found?.id ?? null;
  if (model === null && needsModel) {
    throw new ServingError(`${client.baseUrl}/v1/models names no model. Say which one to ask for with --model.`);
  }
  return {
    baseUrl: client.baseUrl,
    endpoint,
    url: client.baseUrl + endpoint,
    model: model ?? '',
    modelId: settings.model ?? found?.id ?? model ?? '',
    listedModels: models?.map(({id}) => id) ?? null,
    maxModelLen: found?.max_model_len ?? null,
    serverVersion: await serverVersion(client),
  };
}

/** Any answer that is no fault of the server counts as ready. */
async function waitUntilReady(client: HttpClient, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await client.get('/v1/models').catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.status < 500) return;
    if (performance.now() > end) {
      const seen = answer instanceof Error ? answer.message : `status ${answer.status}`;
      throw new ServingError(`${client.baseUrl} was not ready within ${seconds} s: ${seen}`);
    }
    await delay(msBetweenLooks);
  }
}

/** Null when the server has no such list; it must be there, though. */
async function listModels(client: HttpClient) {
  const answer = await client.get('/v1/models');
  if (answer.status === 401 || answer.status === 403) {
    const asked = {url: client.baseUrl, model: '', listedModels: null, hasKey: client.hasKey};
    throw new ServingError(`${client.baseUrl} answers ${answer.status}\n${statusHint(answer.status, asked)}`);
  }
  const parsed = modelsSchema.safeParse(jsonOf(answer));
  return parsed.success ? parsed.data.data : null;
}

async function serverVersion(client: HttpClient): Promise<string | null> {
  const answer = await client.get('/version').catch(() => null);
  const parsed = versionSchema.safeParse(answer === null ? null : jsonOf(answer));
  return parsed.success ? parsed.data.version : null;
}

/** @throws UsageError when a request of these lengths cannot fit */
export function checkLengths({maxModelLen}: Target, lengths: {input: number; output: number} | null): void {
  if (maxModelLen === null || lengths === null || lengths.input + lengths.output <= maxModelLen) return;
  throw new UsageError(
    `Prompts of ${lengths.input} and answers of ${lengths.output} tokens exceed the context of ${maxModelLen} tokens`,
    {hint: 'make them shorter with --input-len and --output-len'},
  );
}
