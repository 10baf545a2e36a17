/**
 * `--enable-ssl-refresh`: looks at the files of `--ssl-…` and gives the server new ones when they change. A connection
 * keeps the certificate that it began with. Files that do not fit together are left alone until they do.
 */
import {unwatchFile, watchFile} from 'node:fs';
import type {Logger} from '../core/util/logger.ts';
import type {HttpServer} from './http-server.ts';
import {readTlsOptions, type TlsSettings} from './tls.ts';

/** Looking by time also sees links that are set to another file, as orchestrators do it. */
const LOOK_INTERVAL_MS = 1000;

/** @returns a function that ends the looking */
export function startTlsRefresh(
  server: Pick<HttpServer, 'replaceTls'>,
  settings: TlsSettings,
  logger: Logger,
  intervalMs = LOOK_INTERVAL_MS,
): () => void {
  const {sslCertfile, sslKeyfile, sslCaCerts} = settings;
  const files = [sslCertfile, sslKeyfile, sslCaCerts].filter((path) => path !== null);
  const refresh = () => void refreshOnce(server, settings, logger);
  for (const file of files) watchFile(file, {interval: intervalMs, persistent: false}, refresh);
  return () => {
    for (const file of files) unwatchFile(file, refresh);
  };
}

async function refreshOnce(server: Pick<HttpServer, 'replaceTls'>, settings: TlsSettings, logger: Logger) {
  try {
    const tls = await readTlsOptions(settings);
    if (tls === null) return;
    server.replaceTls(tls);
    logger.info({}, 'The certificate was read again');
  } catch (error) {
    logger.warn({err: error}, `The certificate stays as it was: ${(error as Error).message}`);
  }
}
