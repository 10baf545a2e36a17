/** The HTTP application over a scripted engine, for tests of routes: through `inject` or on a real port. */
import type {FastifyInstance} from 'fastify';
import {afterEach} from 'vitest';
import type {Llm} from '../../src/core/llm.ts';
import {type AppOptions, buildApp} from '../../src/server/build-app.ts';
import {type ServerOptions, serverOptionsSchema} from '../../src/server/server-config.ts';
import {RecordingLogger} from './recording-logger.ts';
import type {ScriptedEngineClient} from './scripted-engine-client.ts';
import {createScriptedLlm, type ScriptedLlmOptions} from './scripted-llm.ts';

export interface TestApp {
  app: FastifyInstance;
  llm: Llm;
  engine: ScriptedEngineClient;
  logger: RecordingLogger;
  /** Posts JSON, or a text as it is, without a socket. */
  post(url: string, body: object | string, headers?: Record<string, string>): Promise<TestAnswer>;
  /** Posts a conversation with these fields to the chat route. */
  chat(fields: object, headers?: Record<string, string>): Promise<TestAnswer>;
  /** Binds a free port; resolves with the address. */
  listen(): Promise<string>;
}

export interface TestAnswer {
  status: number;
  /** Empty when the answer is no JSON. */
  body: ChatAnswer;
  text: string;
}

/** As loose as a client's view of a body whose shape is under test. */
export type ChatAnswer = Record<string, never> & {
  error: {message: string; type: string; param: string | null; code: number};
};

export const userSays = (content: string) => [{role: 'user', content}];

const open: FastifyInstance[] = [];

/** Call in a test file whose apps are to be closed after each test. */
export function closeAppsAfterEach(): void {
  afterEach(async () => {
    await Promise.all(open.splice(0).map(closeApp));
  });
}

/** Clients of tests may hold connections that never sent a request; the server would wait for them. */
async function closeApp(app: FastifyInstance): Promise<void> {
  app.server.closeAllConnections();
  await app.close();
}

export async function openTestApp(
  llmOptions: ScriptedLlmOptions = {},
  serverOptions: Partial<ServerOptions> = {},
  appOptions: Pick<AppOptions, 'plugins'> = {},
): Promise<TestApp> {
  const logger = new RecordingLogger();
  const {llm, engine} = await createScriptedLlm({logger, ...llmOptions});
  const options = serverOptionsSchema.parse({servedModelName: ['tiny', 'alias'], ...serverOptions});
  const app = buildApp({llm, options, modelRoot: 'models/tiny', version: '1.2.3', logger, ...appOptions});
  open.push(app);
  const post: TestApp['post'] = async (url, body, headers = {}) => {
    const response = await app.inject({
      method: 'POST',
      url,
      headers: {'content-type': 'application/json', ...headers},
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const isJson = response.headers['content-type'] === 'application/json';
    return {status: response.statusCode, body: isJson ? response.json() : ({} as never), text: response.body};
  };
  return {
    app,
    llm,
    engine,
    logger,
    post,
    chat: (fields, headers) => post('/v1/chat/completions', {messages: userSays('Say hello.'), ...fields}, headers),
    listen: () => app.listen({port: 0, host: '127.0.0.1'}),
  };
}
