/** Finds the server to measure, or starts one of ours. */
import type {BenchSettings} from '../bench-settings.ts';
import {givenBaseUrl} from '../target/find-target.ts';
import {HttpClient} from '../target/http-client.ts';
import {type StartedServer, startServer} from '../target/started-server.ts';
import type {BenchTerminal} from './bench-terminal.ts';

export interface Connection {
  client: HttpClient;
  /** The server is a child of this process. */
  isStarted: boolean;
  /** It serves the embedded model. */
  isEmbedded: boolean;
  close(): Promise<void>;
}

const usualBaseUrl = 'http://127.0.0.1:8000';

/** @throws ServingError when a server of ours does not start */
export async function connect(settings: BenchSettings, terminal: BenchTerminal): Promise<Connection> {
  const given = givenBaseUrl(settings);
  if (given !== null) return connectTo(given, settings);
  if (settings.serve === null && (await isListening(settings))) {
    terminal.note(`No server is named; the one on ${usualBaseUrl} answers and is measured`);
    return connectTo(usualBaseUrl, settings);
  }
  return connectToOwn(settings, terminal);
}

function connectTo(baseUrl: string, {headers, insecure}: BenchSettings): Connection {
  const client = new HttpClient({baseUrl, headers, isInsecure: insecure});
  return {client, isStarted: false, isEmbedded: false, close: () => client.close()};
}

async function connectToOwn(settings: BenchSettings, terminal: BenchTerminal): Promise<Connection> {
  terminal.note(`Starting ${settings.serve ?? 'the embedded model'} for this run; --url measures another server`);
  const server: StartedServer = await startServer(terminal.program, settings, terminal.interrupt);
  const {client} = connectTo(server.baseUrl, settings);
  const close = async () => {
    await client.close();
    await server.stop();
  };
  return {client, isStarted: true, isEmbedded: settings.serve === null, close};
}

async function isListening({headers, insecure}: BenchSettings): Promise<boolean> {
  const client = new HttpClient({baseUrl: usualBaseUrl, headers, isInsecure: insecure});
  const answer = await client.get('/v1/models').catch(() => null);
  await client.close();
  return answer?.status === 200;
}
