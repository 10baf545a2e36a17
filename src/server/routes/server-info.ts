/**
 * `GET /server_info`: options, `VLLM_*` variables and the machine, for developers. Only there with
 * `VLLM_SERVER_DEV_MODE=1`, and never with a secret. `?config_format=json` gives the options as an object.
 */
import os from 'node:os';
import type {FastifyRequest} from 'fastify';
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD/;

export function isDevMode(env: NodeJS.ProcessEnv = process.env): boolean {
  return env.VLLM_SERVER_DEV_MODE === '1';
}

export function registerServerInfo(routes: RouteTable, context: ServerContext): void {
  routes.add('GET', '/server_info', (request, reply) => {
    const config = configOf(context);
    const {config_format: format} = request.query as FastifyRequest['query'] & {config_format?: string};
    return sendJson(reply, 200, {
      vllm_config: format === 'json' ? config : asText(config),
      vllm_env: environment(process.env),
      system_env: systemFacts(),
    });
  });
}

function configOf({options, llm, modelRoot, servedModelNames}: ServerContext): Record<string, unknown> {
  const {apiKey, ...open} = options;
  return {model: modelRoot, servedModelNames, numApiKeys: apiKey.length, modelInfo: llm.modelInfo, ...open};
}

function asText(config: Record<string, unknown>): string {
  return Object.entries(config)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');
}

function environment(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const names = Object.keys(env).filter((name) => /^(VLLM|PARLANCE)_/.test(name) && !SECRET_NAME.test(name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

function systemFacts() {
  return {
    node: process.version,
    platform: process.platform,
    arch: process.arch,
    cpus: os.availableParallelism(),
    memory_bytes: os.totalmem(),
  };
}
